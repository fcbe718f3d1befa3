#include "core/fault.h"

namespace queuepair {
namespace {

// Takes one from a counter that several threads may take from; false: nothing was left.
bool takeOne(std::atomic<std::uint32_t>& counter) noexcept {
  std::uint32_t left = counter.load();
  while (left > 0) {
    if (counter.compare_exchange_weak(left, left - 1)) return true;
  }
  return false;
}

}  // namespace

void FaultInjector::arm(FaultPoint point, std::uint32_t skip, std::uint32_t count,
                        std::uint64_t value) noexcept {
  const auto index = static_cast<std::size_t>(point);
  if (index >= kFaultPointCount) return;
  const std::uint32_t bit = 1U << index;
  armed_.fetch_and(~bit);
  Plan& plan = plans_[index];
  plan.skip.store(skip);
  plan.count.store(count);
  plan.value.store(value);
  if (count > 0) armed_.fetch_or(bit);
}

bool FaultInjector::firesSlowly(FaultPoint point, std::uint64_t& value) noexcept {
  const auto index = static_cast<std::size_t>(point);
  if ((armed_.load() & (1U << index)) == 0) return false;
  Plan& plan = plans_[index];
  if (takeOne(plan.skip) || !takeOne(plan.count)) return false;
  value = plan.value.load();
  return true;
}

}  // namespace queuepair
