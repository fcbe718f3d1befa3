#include "core/owner_wake.h"

#include "core/lane.h"

namespace queuepair {
namespace {

// The poller's longest park, so that a lost wake costs no more than a lost doorbell does.
constexpr std::uint64_t kLookEveryNanoseconds = 100'000'000;

bool isOdd(std::uint32_t value) noexcept { return (value & 1) != 0; }

}  // namespace

void OwnerWake::afterStep(bool news, bool drained, std::uint64_t now) noexcept {
  std::uint32_t request = 0;
  const bool space = wantsSpace(drained, request);
  if (!news && !space) return;
  const std::uint32_t armed = header_.load(layout::kOwnerArmedAt);
  if (!isOdd(armed)) return;  // it will look at everything when it arms itself
  if (space) servedFor_ = request;
  if (armed != wokenFor_) wake(armed, now);
}

void OwnerWake::look(bool untaken, bool drained, std::uint64_t now) noexcept {
  nextLookAt_ = now + kLookEveryNanoseconds;
  const bool space = drained && isOdd(header_.load(layout::kOwnerWantsSpaceAt));
  if (!untaken && !space) return;
  const std::uint32_t armed = header_.load(layout::kOwnerArmedAt);
  if (!isOdd(armed)) return;
  if (armed == wokenFor_ || armed == lookedAt_) wake(armed, now);
  lookedAt_ = armed;
}

bool OwnerWake::wantsSpace(bool drained, std::uint32_t& request) const noexcept {
  if (!drained) return false;
  request = header_.load(layout::kOwnerWantsSpaceAt);
  return isOdd(request) && request != servedFor_;
}

void OwnerWake::wake(std::uint32_t armed, std::uint64_t now) noexcept {
  wokenFor_ = armed;
  nextLookAt_ = now + kLookEveryNanoseconds;
  header_.count(layout::kOwnerWakes);
  std::uint64_t unused = 0;
  if (!faults_.fires(FaultPoint::kOwnerWakeSwallowed, unused)) waker_.wake();
}

}  // namespace queuepair
