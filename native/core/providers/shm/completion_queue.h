// A ring of completions, filled by queue pairs and emptied by poll(). Slots are reserved up front,
// so it never overflows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/provider.h"

namespace queuepair::shm {

class SharedMemoryCompletionQueue final : public CompletionQueue {
 public:
  explicit SharedMemoryCompletionQueue(std::uint32_t slots);
  bool reserve(std::uint32_t slots) override;
  void release(std::uint32_t slots) override;
  std::size_t poll(std::span<WorkCompletion> into) override;

  void push(const WorkCompletion& completion);

 private:
  void grow(std::size_t capacity);

  std::vector<WorkCompletion> ring_;  // a power of two
  std::uint64_t head_ = 0;
  std::uint64_t tail_ = 0;
  std::uint64_t reserved_ = 0;
};

}  // namespace queuepair::shm
