// The words of a lane's shared memory, each a pointer and an offset away. Copies are free.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/layout.h"
#include "core/status.h"

namespace queuepair {

class SharedHeader {
 public:
  explicit SharedHeader(std::byte* base) noexcept : base_(base) {}

  // Sequentially consistent, as Atomics is in JavaScript: every pair of flags here works by "store
  // mine, then look at yours", and any weaker order loses wakes.
  [[nodiscard]] std::uint32_t load(std::size_t at) const noexcept { return word(at).load(); }
  void store(std::size_t at, std::uint32_t value) const noexcept { word(at).store(value); }
  [[nodiscard]] bool exchange(std::size_t at, std::uint32_t expected,
                              std::uint32_t desired) const noexcept {
    return word(at).compare_exchange_strong(expected, desired);
  }

  // Counters have one writer each, so adding needs no locked instruction.
  void count(layout::StepCounter counter, std::uint64_t amount = 1) const noexcept {
    add(layout::kStepCountersAt + 8 * std::size_t{counter}, amount);
  }
  void count(layout::PollerCounter counter, std::uint64_t amount = 1) const noexcept {
    add(layout::kPollerCountersAt + 8 * std::size_t{counter}, amount);
  }
  void countStatus(Status status) const noexcept {
    const std::size_t index = layout::kCompletionsByStatus + static_cast<std::size_t>(status);
    add(layout::kStepCountersAt + 8 * index, 1);
  }

 private:
  [[nodiscard]] std::atomic_ref<std::uint32_t> word(std::size_t at) const noexcept {
    return std::atomic_ref(*reinterpret_cast<std::uint32_t*>(base_ + at));
  }
  void add(std::size_t at, std::uint64_t amount) const noexcept {
    const std::atomic_ref counter(*reinterpret_cast<std::uint64_t*>(base_ + at));
    counter.store(counter.load(std::memory_order_relaxed) + amount, std::memory_order_relaxed);
  }

  std::byte* base_;
};

// What the owner wrote before it opened the lane.
struct Geometry {
  std::uint32_t laneIndex = 0;
  std::uint32_t submissionCapacity = 0;
  std::uint32_t completionCapacity = 0;
  std::uint32_t submissionRingAt = 0;
  std::uint32_t completionRingAt = 0;
};

// False: not a lane's memory, or the rings do not lie inside it. `detail` then says what is wrong.
bool readGeometry(std::span<std::byte> shared, Geometry& geometry, const char*& detail) noexcept;

}  // namespace queuepair
