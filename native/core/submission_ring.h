// The reading end of the submission ring. Indexes run freely; the owner writes records and then the
// tail, we read records and then write the head.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/shared_header.h"

namespace queuepair {

class SubmissionRing {
 public:
  SubmissionRing(SharedHeader header, const std::byte* records, std::uint32_t capacity) noexcept
      : header_(header),
        records_(records),
        capacity_(capacity),
        head_(header.load(layout::kSubmissionHeadAt)) {}

  // Records written and not yet taken. More than the capacity means that the owner broke the
  // protocol, or something wrote over the lane's memory: nothing in the ring can be believed then.
  [[nodiscard]] std::uint32_t waiting() const noexcept {
    return header_.load(layout::kSubmissionTailAt) - head_;
  }
  [[nodiscard]] bool isSound(std::uint32_t waitingRecords) const noexcept {
    return waitingRecords <= capacity_;
  }

  // The next record. It stays in place until publishHead(), and the owner could still change it, so
  // it is copied before anything in it is looked at.
  [[nodiscard]] const std::byte* next() noexcept {
    const std::size_t index = head_++ & (capacity_ - 1);
    return records_ + index * layout::kSubmissionBytes;
  }
  void publishHead() const noexcept { header_.store(layout::kSubmissionHeadAt, head_); }

 private:
  SharedHeader header_;
  const std::byte* records_;
  std::uint32_t capacity_;
  std::uint32_t head_;
};

}  // namespace queuepair
