// The owner's half of a lane, as src/engine has it in JavaScript: writes submission records, takes
// completion records, arms itself for wakes.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "core/completion_ring.h"
#include "core/layout.h"
#include "core/record.h"
#include "core/shared_header.h"

namespace queuepair::test {

struct OwnerOptions {
  std::uint32_t submissionCapacity = 64;
  std::uint32_t completionCapacity = 256;
  std::uint32_t laneIndex = 0;
  std::uint32_t firstIndex = 0;  // where all ring indexes begin
};

// A record as JavaScript writes it, all three lines.
inline void writeRecord(const SubmissionRecord& record, std::byte* at) {
  namespace offset = layout::submission;
  std::array<std::byte, layout::kSubmissionBytes> bytes{};
  const auto put = [&](std::size_t where, const auto& value) {
    std::memcpy(bytes.data() + where, &value, sizeof value);
  };
  put(offset::kOpcodeAt, record.opcode);
  put(offset::kFlagsAt, record.flags);
  put(offset::kSegmentCountAt, record.segmentCount);
  put(offset::kLaneAt, record.lane);
  put(offset::kConnectionSlotAt, record.connection.slot);
  put(offset::kConnectionGenerationAt, record.connection.generation);
  put(offset::kOperationSlotAt, record.operationSlot);
  put(offset::kOperationGenerationAt, record.operationGeneration);
  put(offset::kImmediateAt, record.immediate);
  for (std::size_t index = 0; index < kMaxSegments; ++index) {
    const RecordSegment& segment = record.segments[index];
    put(offset::kSegmentAt[index], segment.region.slot);
    put(offset::kSegmentAt[index] + 4, segment.region.generation);
    put(offset::kSegmentAt[index] + 8, segment.offset);
    put(offset::kSegmentAt[index] + 16, segment.length);
  }
  put(offset::kRemoteSlotAt, record.remoteSlot);
  put(offset::kRemoteGenerationAt, record.remoteGeneration);
  put(offset::kRemoteOffsetAt, record.remoteOffset);
  put(offset::kOperandAt, record.operand);
  put(offset::kSwapAt, record.swap);
  std::memcpy(at, bytes.data(), bytes.size());
}

class TestOwner {
 public:
  explicit TestOwner(const OwnerOptions& options = {})
      : options_(options),
        ringAt_(layout::kHeaderBytes),
        completionsAt_(ringAt_ + options.submissionCapacity * layout::kSubmissionBytes),
        memory_((completionsAt_ + options.completionCapacity * layout::kCompletionBytes) / 8),
        header_(bytes()),
        tail_(options.firstIndex),
        head_(options.firstIndex) {
    header_.store(layout::kMagicAt, layout::kMagic);
    header_.store(layout::kVersionAt, layout::kVersion);
    header_.store(layout::kLaneIndexAt, options.laneIndex);
    header_.store(layout::kSubmissionCapacityAt, options.submissionCapacity);
    header_.store(layout::kCompletionCapacityAt, options.completionCapacity);
    header_.store(layout::kSubmissionRingAt, static_cast<std::uint32_t>(ringAt_));
    header_.store(layout::kCompletionRingAt, static_cast<std::uint32_t>(completionsAt_));
    for (const std::size_t at : {layout::kSubmissionTailAt, layout::kSubmissionHeadAt,
                                 layout::kCompletionTailAt, layout::kCompletionHeadAt}) {
      header_.store(at, options.firstIndex);
    }
  }

  [[nodiscard]] std::byte* bytes() { return reinterpret_cast<std::byte*>(memory_.data()); }
  [[nodiscard]] std::span<std::byte> memory() { return {bytes(), memory_.size() * 8}; }
  [[nodiscard]] SharedHeader header() const { return header_; }

  [[nodiscard]] bool hasSpace() const {
    return tail_ - header_.load(layout::kSubmissionHeadAt) < options_.submissionCapacity;
  }
  void write(const SubmissionRecord& record) {
    const std::size_t index = tail_++ & (options_.submissionCapacity - 1);
    writeRecord(record, bytes() + ringAt_ + index * layout::kSubmissionBytes);
  }
  void publish() const { header_.store(layout::kSubmissionTailAt, tail_); }
  void submit(const SubmissionRecord& record) {
    write(record);
    publish();
  }
  [[nodiscard]] bool pollerIsParked() const {
    return (header_.load(layout::kPollerParkedAt) & 1) != 0;
  }

  // One completion record. False: there is none.
  bool take(CompletionRecord& record) {
    if (head_ == header_.load(layout::kCompletionTailAt)) return false;
    const std::size_t index = head_++ & (options_.completionCapacity - 1);
    std::memcpy(&record, bytes() + completionsAt_ + index * layout::kCompletionBytes,
                sizeof record);
    header_.store(layout::kCompletionHeadAt, head_);
    return true;
  }
  std::vector<CompletionRecord> takeAll() {
    std::vector<CompletionRecord> all;
    for (CompletionRecord record{}; take(record);) all.push_back(record);
    return all;
  }
  [[nodiscard]] bool hasCompletions() const {
    return head_ != header_.load(layout::kCompletionTailAt);
  }

  void arm() const {
    header_.store(layout::kOwnerArmedAt, header_.load(layout::kOwnerArmedAt) | 1);
  }
  void disarm() const {
    header_.store(layout::kOwnerArmedAt, (header_.load(layout::kOwnerArmedAt) + 1) & ~1U);
  }
  [[nodiscard]] std::uint64_t counter(layout::StepCounter counter) {
    return counterAt(layout::kStepCountersAt + 8 * std::size_t{counter});
  }
  [[nodiscard]] std::uint64_t counter(layout::PollerCounter counter) {
    return counterAt(layout::kPollerCountersAt + 8 * std::size_t{counter});
  }

 private:
  std::uint64_t counterAt(std::size_t at) {
    return std::atomic_ref(*reinterpret_cast<std::uint64_t*>(bytes() + at)).load();
  }

  OwnerOptions options_;
  std::size_t ringAt_;
  std::size_t completionsAt_;
  std::vector<std::uint64_t> memory_;
  SharedHeader header_;
  std::uint32_t tail_;
  std::uint32_t head_;
};

}  // namespace queuepair::test
