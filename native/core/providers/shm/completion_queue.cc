#include "core/providers/shm/completion_queue.h"

#include <algorithm>
#include <bit>

namespace queuepair::shm {
namespace {

// 2^22 completions are 192 MiB: far beyond any use, and an error in accounting shows.
constexpr std::uint64_t kMaxSlots = 1ULL << 22U;

}  // namespace

SharedMemoryCompletionQueue::SharedMemoryCompletionQueue(std::uint32_t slots)
    : ring_(std::bit_ceil(std::clamp<std::uint64_t>(slots, 16, kMaxSlots))) {}

bool SharedMemoryCompletionQueue::reserve(std::uint32_t slots) {
  if (reserved_ + slots > kMaxSlots) return false;
  reserved_ += slots;
  if (reserved_ > ring_.size()) grow(std::bit_ceil(reserved_));
  return true;
}

void SharedMemoryCompletionQueue::release(std::uint32_t slots) {
  reserved_ -= std::min<std::uint64_t>(slots, reserved_);
}

std::size_t SharedMemoryCompletionQueue::poll(std::span<WorkCompletion> into) {
  const std::size_t count = std::min<std::uint64_t>(into.size(), tail_ - head_);
  for (std::size_t i = 0; i < count; ++i) into[i] = ring_[head_++ & (ring_.size() - 1)];
  return count;
}

void SharedMemoryCompletionQueue::push(const WorkCompletion& completion) {
  // Cannot be while callers reserve; a completion lost would be a promise that never settles.
  if (tail_ - head_ == ring_.size()) grow(2 * ring_.size());
  ring_[tail_++ & (ring_.size() - 1)] = completion;
}

void SharedMemoryCompletionQueue::grow(std::size_t capacity) {
  std::vector<WorkCompletion> larger(capacity);
  for (std::uint64_t at = head_; at != tail_; ++at) {
    larger[at & (capacity - 1)] = ring_[at & (ring_.size() - 1)];
  }
  ring_ = std::move(larger);
}

}  // namespace queuepair::shm
