// The lane's shared memory: one SharedArrayBuffer made in JavaScript, seen here as bytes.
// src/engine/layout.ts mirrors every number; a test compares the two through the addon's layout().
//
// Each word has one writing role:
//   owner   the JavaScript thread that opened the engine
//   step    whoever holds the progress token (the poller, later also the owner)
//   poller  the poller worker's thread
// All words are 32-bit unless they say otherwise; indexes run freely and wrap at 2^32.
#pragma once

#include <cstddef>
#include <cstdint>

namespace queuepair::layout {

inline constexpr std::uint32_t kMagic = 0x71706c31;  // "qpl1"
inline constexpr std::uint32_t kVersion = 1;
// A cache line on every supported processor is 64 bytes; the adjacent-line prefetcher of x86
// fetches pairs, so words of different writers lie two lines apart.
inline constexpr std::size_t kLine = 64;
inline constexpr std::size_t kSpan = 128;

// Written once by the owner before the lane is opened.
inline constexpr std::size_t kMagicAt = 0;
inline constexpr std::size_t kVersionAt = 4;
inline constexpr std::size_t kLaneIndexAt = 8;
inline constexpr std::size_t kSubmissionCapacityAt = 12;  // records, a power of two
inline constexpr std::size_t kCompletionCapacityAt = 16;  // records, a power of two, >= op slots
inline constexpr std::size_t kSubmissionRingAt = 20;      // byte offset of the first record
inline constexpr std::size_t kCompletionRingAt = 24;

// Writer: owner.
inline constexpr std::size_t kSubmissionTailAt = 1 * kSpan;
inline constexpr std::size_t kCompletionHeadAt = 2 * kSpan;
inline constexpr std::size_t kOwnerArmedAt = 3 * kSpan;  // odd while the owner wants a wake
inline constexpr std::size_t kOwnerWantsSpaceAt = 3 * kSpan + 4;  // odd: wake when the ring drained
inline constexpr std::size_t kStopAt = 3 * kSpan + 8;             // 1 once the poller must return

// Writer: step.
inline constexpr std::size_t kSubmissionHeadAt = 4 * kSpan;
inline constexpr std::size_t kCompletionTailAt = 5 * kSpan;
inline constexpr std::size_t kEventsPostedAt = 6 * kSpan;  // control events; taken by a native call

// The progress token: compare-and-swapped between roles, the one word with several writers.
inline constexpr std::size_t kTokenAt = 7 * kSpan;       // 0 free, else the holder's Role
inline constexpr std::size_t kAgainAt = 7 * kSpan + 64;  // set by who failed to take it

// Writer: poller.
inline constexpr std::size_t kPollerParkedAt = 8 * kSpan;     // odd while parked or about to be
inline constexpr std::size_t kPollerStateAt = 8 * kSpan + 4;  // PollerState

// 64-bit counters. Writer: step.
inline constexpr std::size_t kStepCountersAt = 9 * kSpan;
enum StepCounter : std::uint32_t {
  kPostsSend,
  kPostsReceive,
  kPostsRead,
  kPostsWrite,
  kPostsAtomic,
  kBytesSent,
  kBytesReceived,
  kBytesRead,
  kBytesWritten,
  kOwnerWakes,
  kPostAgain,  // posts that the provider asked to repeat
  kRecordsRefused,
  kCompletionsByStatus,  // kStatusCount counters follow
  kStepCounterCount = kCompletionsByStatus + 22,
};
inline constexpr std::size_t kPollerCountersAt = 12 * kSpan;
enum PollerCounter : std::uint32_t {
  kSteps,
  kIdleSteps,  // steps that found nothing to do: the spinning
  kParks,
  kParkTimeouts,
  kPollerCounterCount,
};
static_assert(kStepCountersAt + 8 * kStepCounterCount <= kPollerCountersAt);
inline constexpr std::size_t kHeaderBytes = 13 * kSpan;

// Submission record: three lines. The first holds all that a send, receive, read or write of one
// segment needs; atomics and further segments touch the others.
inline constexpr std::size_t kSubmissionBytes = 192;
namespace submission {
inline constexpr std::size_t kOpcodeAt = 0;  // bytes: opcode, flags, segment count, lane
inline constexpr std::size_t kFlagsAt = 1;
inline constexpr std::size_t kSegmentCountAt = 2;
inline constexpr std::size_t kLaneAt = 3;
inline constexpr std::size_t kConnectionSlotAt = 4;
inline constexpr std::size_t kConnectionGenerationAt = 8;
inline constexpr std::size_t kOperationSlotAt = 12;
inline constexpr std::size_t kOperationGenerationAt = 16;
inline constexpr std::size_t kImmediateAt = 20;
// A segment: region slot, region generation, offset low, high, length low, high.
inline constexpr std::size_t kSegmentBytes = 24;
inline constexpr std::size_t kSegmentAt[4] = {24, 80, 104, 128};
inline constexpr std::size_t kRemoteSlotAt = 48;
inline constexpr std::size_t kRemoteGenerationAt = 52;
inline constexpr std::size_t kRemoteOffsetAt = 56;  // low, high
inline constexpr std::size_t kOperandAt = 64;       // add or compare: low, high
inline constexpr std::size_t kSwapAt = 72;          // low, high
}  // namespace submission

// Completion record: half a line; never more than one per op slot, so the ring cannot overflow.
inline constexpr std::size_t kCompletionBytes = 32;
namespace completion {
inline constexpr std::size_t kOperationSlotAt = 0;
inline constexpr std::size_t kOperationGenerationAt = 4;
inline constexpr std::size_t kStatusAt = 8;  // bytes: status, flags, opcode, lane
inline constexpr std::size_t kFlagsAt = 9;
inline constexpr std::size_t kOpcodeAt = 10;
inline constexpr std::size_t kLaneAt = 11;
inline constexpr std::size_t kImmediateAt = 12;
inline constexpr std::size_t kByteLengthAt = 16;  // low, high
inline constexpr std::size_t kResultAt = 24;      // atomics: the old value; failures: vendor error
}  // namespace completion

}  // namespace queuepair::layout
