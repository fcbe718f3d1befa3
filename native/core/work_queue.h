// Work that waits in its connection, in order. It needs no bound of its own: all that waits holds
// an op slot of the lane.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/work.h"

namespace queuepair {

class WorkQueue {
 public:
  [[nodiscard]] bool empty() const noexcept { return count_ == 0; }
  [[nodiscard]] const WorkRequest& front() const noexcept { return requests_[head_]; }

  void push(const WorkRequest& request) {
    if (count_ == requests_.size()) grow();
    requests_[(head_ + count_) & (requests_.size() - 1)] = request;
    ++count_;
  }

  void pop() noexcept {
    head_ = (head_ + 1) & (requests_.size() - 1);
    // A burst does not stay with an idle connection.
    if (--count_ == 0 && requests_.size() > kKept) requests_ = {};
    if (count_ == 0) head_ = 0;
  }

 private:
  static constexpr std::size_t kFirst = 8;  // powers of two, for the mask
  static constexpr std::size_t kKept = 64;  // the default depth

  void grow() {
    std::vector<WorkRequest> larger(std::max(kFirst, 2 * requests_.size()));
    for (std::size_t index = 0; index < count_; ++index) {
      larger[index] = requests_[(head_ + index) & (requests_.size() - 1)];
    }
    requests_ = std::move(larger);
    head_ = 0;
  }

  std::vector<WorkRequest> requests_{};
  std::size_t head_ = 0;
  std::size_t count_ = 0;
};

}  // namespace queuepair
