// The writing end of the completion ring: records are written one by one and published together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "core/shared_header.h"

namespace queuepair {

// As layout.h has it, byte for byte.
struct CompletionRecord {
  std::uint32_t operationSlot;
  std::uint32_t operationGeneration;
  std::uint8_t status;
  std::uint8_t flags;
  std::uint8_t opcode;
  std::uint8_t lane;
  std::uint32_t immediate;
  std::uint64_t byteLength;
  std::uint64_t result;
};
static_assert(sizeof(CompletionRecord) == layout::kCompletionBytes);
static_assert(offsetof(CompletionRecord, operationSlot) == layout::completion::kOperationSlotAt);
static_assert(offsetof(CompletionRecord, operationGeneration) ==
              layout::completion::kOperationGenerationAt);
static_assert(offsetof(CompletionRecord, status) == layout::completion::kStatusAt);
static_assert(offsetof(CompletionRecord, flags) == layout::completion::kFlagsAt);
static_assert(offsetof(CompletionRecord, opcode) == layout::completion::kOpcodeAt);
static_assert(offsetof(CompletionRecord, lane) == layout::completion::kLaneAt);
static_assert(offsetof(CompletionRecord, immediate) == layout::completion::kImmediateAt);
static_assert(offsetof(CompletionRecord, byteLength) == layout::completion::kByteLengthAt);
static_assert(offsetof(CompletionRecord, result) == layout::completion::kResultAt);

class CompletionRing {
 public:
  CompletionRing(SharedHeader header, std::byte* records, std::uint32_t capacity) noexcept
      : header_(header),
        records_(records),
        capacity_(capacity),
        tail_(header.load(layout::kCompletionTailAt)),
        published_(tail_) {}

  // False: no room. The owner frees an op slot only after it has taken the slot's record, so only a
  // program that broke that rule gets here.
  [[nodiscard]] bool write(const CompletionRecord& record) noexcept {
    if (tail_ - knownHead_ >= capacity_) {
      knownHead_ = header_.load(layout::kCompletionHeadAt);
      if (tail_ - knownHead_ >= capacity_) return false;
    }
    const std::size_t index = tail_++ & (capacity_ - 1);
    std::memcpy(records_ + index * layout::kCompletionBytes, &record, sizeof record);
    return true;
  }

  // True when there was something to publish.
  bool publish() noexcept {
    if (tail_ == published_) return false;
    published_ = tail_;
    header_.store(layout::kCompletionTailAt, tail_);
    return true;
  }

  // Whether the owner still has records to take.
  [[nodiscard]] bool unread() const noexcept {
    return header_.load(layout::kCompletionHeadAt) != published_;
  }

 private:
  SharedHeader header_;
  std::byte* records_;
  std::uint32_t capacity_;
  std::uint32_t tail_;
  std::uint32_t published_;
  std::uint32_t knownHead_ = header_.load(layout::kCompletionHeadAt);
};

}  // namespace queuepair
