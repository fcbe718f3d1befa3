// One work request and its completion, as the engine and the providers speak of them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "core/status.h"

namespace queuepair {

class Region;

enum class Opcode : std::uint8_t {
  kSend = 1,
  kReceive = 2,
  kRead = 3,
  kWrite = 4,
  kFetchAdd = 5,
  kCompareSwap = 6,
  kFlush = 7,  // completes when all that was posted before it on the send side has completed
};

enum WorkFlags : std::uint8_t {
  kSignaled = 1,   // somebody awaits it; every request gets a completion record all the same
  kImmediate = 2,  // `immediate` is valid
};

inline constexpr std::size_t kMaxSegments = 4;

struct Segment {
  Region* region;
  std::byte* address;  // region->data() + offset, already checked against its length
  std::uint64_t offset;
  std::uint64_t length;
};

struct WorkRequest {
  std::uint64_t id;  // the engine's: op slot in the low half, generation in the high half
  Opcode opcode;
  std::uint8_t flags;
  std::uint8_t segmentCount;
  std::uint32_t immediate;
  std::uint64_t byteLength;  // the sum over the segments
  std::array<Segment, kMaxSegments> segments;
  std::uint32_t remoteSlot;  // one-sided work only
  std::uint32_t remoteGeneration;
  std::uint64_t remoteOffset;
  std::uint64_t operand;
  std::uint64_t swap;
};

struct WorkCompletion {
  std::uint64_t id;
  void* context;  // of the queue pair
  Opcode opcode;
  Status status;
  std::uint8_t flags;
  std::uint32_t immediate;
  std::uint64_t byteLength;  // received, or moved
  std::uint64_t result;      // atomics: the old value; failures: vendor error
};

}  // namespace queuepair
