// Walks a request's segments as one run of bytes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "core/work.h"

namespace queuepair::shm {

class SegmentCursor {
 public:
  SegmentCursor() = default;
  // `request` must stay where it is. The caller never moves further than its byteLength.
  explicit SegmentCursor(const WorkRequest& request) noexcept : at_(request.segments.data()) {}

  // The longest run from here that lies in one piece, at most `bytes`; moves past it.
  struct Run {
    std::byte* data;
    std::uint64_t byteLength;
  };
  Run next(std::uint64_t bytes) noexcept {
    while (at_->length == offset_) {
      ++at_;
      offset_ = 0;
    }
    const Run run{at_->address + offset_, std::min(bytes, at_->length - offset_)};
    offset_ += run.byteLength;
    return run;
  }

  void gather(std::byte* into, std::uint64_t bytes) noexcept {
    while (bytes > 0) {
      const Run run = next(bytes);
      std::memcpy(into, run.data, run.byteLength);
      into += run.byteLength;
      bytes -= run.byteLength;
    }
  }

  void scatter(const std::byte* from, std::uint64_t bytes) noexcept {
    while (bytes > 0) {
      const Run run = next(bytes);
      std::memcpy(run.data, from, run.byteLength);
      from += run.byteLength;
      bytes -= run.byteLength;
    }
  }

 private:
  const Segment* at_ = nullptr;
  std::uint64_t offset_ = 0;
};

}  // namespace queuepair::shm
