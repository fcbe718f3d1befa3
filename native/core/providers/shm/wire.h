// What two processes say to each other: messages on the connection's socket, and words and records
// in its shared memory. Both sides run on one host, so all numbers are in its own byte order.
//
// The memory, made by the connector, holds for each side (0 the connector, 1 the acceptor) in turn
//   EndpointWords   written by that side only
//   records         a ring of WireRecords, written by that side as the sender
//   staging         a ring of bytes, written by that side as the sender
// All indexes and positions run freely; nothing wraps in 64 bits.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "core/work.h"

namespace queuepair::shm {

inline constexpr std::uint32_t kMagic = 0x6d687371;  // "qshm"
inline constexpr std::uint16_t kVersion = 1;

// --- the socket ---

enum class MessageKind : std::uint16_t {
  kConnect = 1,   // connector → acceptor, with the memory; geometry, imports, private data
  kAccept = 2,    // acceptor → connector; imports, private data
  kReject = 3,    // acceptor → connector; reason, private data
  kReady = 4,     // connector → acceptor
  kExport = 5,    // sender → receiver, with a region's memory; index, generation, byteLength
  kUnexport = 6,  // sender → receiver; index, generation
};

enum class RejectReason : std::uint32_t { kByProgram = 1, kBacklogFull = 2 };

// Every message but the doorbell, which is a single byte of any value. Private data follows; fields
// that a kind does not use are zero.
struct Message {
  std::uint32_t magic = kMagic;
  std::uint16_t version = kVersion;
  MessageKind kind{};
  std::uint32_t recordCapacity = 0;
  std::uint32_t stagingBytes = 0;
  std::uint32_t importCount = 0;  // how much of the peer's memory this side will map at most
  std::uint32_t privateBytes = 0;
  std::uint64_t importBytes = 0;
  std::uint32_t exportIndex = 0;
  std::uint32_t exportGeneration = 0;
  std::uint64_t exportBytes = 0;
  RejectReason reason{};
  std::uint32_t reserved = 0;
};
static_assert(sizeof(Message) == 56);

// Generous beside verbs (56, 196 and 148 bytes), and every message stays within one socket buffer.
inline constexpr std::uint32_t kMaxPrivateBytes = 1024;
inline constexpr std::size_t kMaxMessageBytes = sizeof(Message) + kMaxPrivateBytes;

// Regions that a side maps of its peer's. A program sends from a few large regions; the sender
// looks them up one by one.
inline constexpr std::uint32_t kMaxImports = 64;

// --- the shared memory ---

// Words of different writers lie two lines apart: x86 prefetches lines in pairs.
inline constexpr std::size_t kSpan = 128;

enum class EndpointState : std::uint32_t {
  kOpen = 0,
  kClosing = 1,  // in order: all that this side sent was taken
  kFailed =
      2,  // what this side sends may change from now on; mapped messages must not be delivered
};

// Everything a side publishes lies in one line, so that looking for news costs one line at most.
struct alignas(kSpan) EndpointWords {
  std::atomic<std::uint64_t> recordTail;  // as the sender: records published
  std::atomic<std::uint64_t> stagedTail;  // as the sender: bytes staged
  std::atomic<std::uint64_t> recordHead;  // as the receiver: records done with
  std::atomic<std::uint64_t> stagedHead;  // as the receiver: staged bytes taken
  std::atomic<std::uint32_t> published;   // counts batches of changes to the words above
  std::atomic<EndpointState> state;
  std::atomic<std::uint32_t> error;  // as the receiver: Status of the send at recordHead, or 0

  // Odd while this side sleeps and wants one byte on the socket after the peer's next change.
  alignas(kSpan) std::atomic<std::uint32_t> armed;
};
static_assert(sizeof(EndpointWords) == 2 * kSpan);
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

enum class RecordKind : std::uint8_t {
  kInline = 1,  // the payload is in the record
  kStaged = 2,  // the payload is in the staging ring from stagedStart on, perhaps still arriving
  kMapped = 3,  // the payload lies in exported memory
  // 16 and up are kept for reads, writes and atomics.
};

struct WireSegment {
  std::uint32_t exportIndex;
  std::uint32_t exportGeneration;
  std::uint64_t offset;
  std::uint64_t length;
};

inline constexpr std::size_t kInlineBytes = 96;

struct alignas(kSpan) WireRecord {
  std::uint64_t sequence;  // its index in the ring, plus one
  RecordKind kind;
  std::uint8_t flags;         // kImmediate
  std::uint8_t segmentCount;  // kMapped only
  std::uint8_t reserved;
  std::uint32_t immediate;
  std::uint64_t byteLength;
  std::uint64_t stagedStart;  // kStaged only
  union {
    std::array<std::byte, kInlineBytes> payload;
    std::array<WireSegment, kMaxSegments> segments;
  };
};
static_assert(sizeof(WireRecord) == kSpan);
inline constexpr std::size_t kRecordHeaderBytes = sizeof(WireRecord) - kInlineBytes;

// A message longer than this lies in the sender's memory and is copied once; a shorter one goes
// through the staging ring, twice, and both copies stay in the cache. The two cost the same at
// about 1 KiB (both ends on one core: 107 ns); at 4 KiB it is 150 against 185 ns, at 1 MiB a half.
inline constexpr std::uint64_t kMappedThreshold = 4096;
// A region that the peer has not mapped yet costs it a message, a mapping and page faults, some
// 10 µs; a message must be longer than this to be the first of its region.
inline constexpr std::uint64_t kExportThreshold = 16384;

// A message longer than any host's memory; sums and positions stay far from 64 bits.
inline constexpr std::uint64_t kMaxSendBytes = 1ULL << 40U;

// Orders all before it against all after it, loads and stores alike.
inline void fullFence() noexcept {
#ifdef __SANITIZE_THREAD__
  static std::atomic<int> dummy{0};  // ThreadSanitizer knows no fences
  dummy.fetch_add(1, std::memory_order_seq_cst);
#else
  std::atomic_thread_fence(std::memory_order_seq_cst);
#endif
}

}  // namespace queuepair::shm
