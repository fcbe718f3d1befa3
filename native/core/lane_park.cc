// How a lane goes to sleep without losing a wake, and how it is woken.
//
// Everyone who brings work stores it first and then looks at kPollerParkedAt; the poller stores
// that word first and then looks for work. Whatever the order, one of the two sees the other.
#include <algorithm>
#include <climits>
#include <utility>

#include "core/lane.h"
#include "core/os/clock.h"

namespace queuepair {
namespace {

constexpr std::uint64_t kNanosecondsPerMs = 1'000'000;
// While a provider answers "again" without saying when, its work is offered again this often.
constexpr int kAgainMs = 1;

}  // namespace

void Lane::ring() noexcept {
  std::uint64_t unused = 0;
  if (!faults_.fires(FaultPoint::kPollerWakeSwallowed, unused)) waitSet_.ring();
}

void Lane::control(ControlRequest request) {
  requests_.push(std::move(request));
  if ((header_.load(layout::kPollerParkedAt) & 1) != 0) ring();
}

void Lane::requestStop() noexcept {
  header_.store(layout::kStopAt, 1);
  waitSet_.ring();
}

bool Lane::stopRequested() const noexcept {
  return header_.load(layout::kStopAt) != 0 || shutDown_.load();
}

bool Lane::prepareToPark() {
  header_.store(layout::kPollerParkedAt, header_.load(layout::kPollerParkedAt) + 1);
  bool mayPark = false;
  if (token_.tryTake(Role::kPoller)) {
    mayPark = armProvider();
    // Who failed to take the token meanwhile may have brought work after we looked.
    if (token_.release()) mayPark = false;
  }
  if (!mayPark) header_.store(layout::kPollerParkedAt, header_.load(layout::kPollerParkedAt) + 1);
  return mayPark;
}

bool Lane::armProvider() {
  if (hasWork()) return false;
  armed_ = true;
  if (!adapter_->arm()) {
    disarmProvider();
    return false;
  }
  parkLimitMs_ = connections_.anyWaits() ? kAgainMs : msUntilDeadline();
  return true;
}

void Lane::disarmProvider() {
  armed_ = false;
  adapter_->disarm();
}

bool Lane::hasWork() const noexcept {
  return stopRequested() || requests_.waiting() || drain_.holds() ||
         (completions_.overflowed() && !broken_) || (!broken_ && submissions_.waiting() != 0);
}

// Rounded up, so that the deadline has passed when the poller wakes for it.
int Lane::msUntilDeadline() const {
  const std::uint64_t deadline = adapter_->deadlineNanoseconds();
  if (deadline == 0) return INT_MAX;
  const std::uint64_t now = os::nowNanoseconds();
  if (deadline <= now) return 0;
  const std::uint64_t ms = (deadline - now + kNanosecondsPerMs - 1) / kNanosecondsPerMs;
  return static_cast<int>(std::min<std::uint64_t>(ms, INT_MAX));
}

bool Lane::park(int timeoutMs) { return waitSet_.wait(std::min(timeoutMs, parkLimitMs_)); }

// The provider is disarmed by the poller's next step, which holds the token anyway and comes at
// once.
void Lane::unpark(bool timedOut) {
  header_.store(layout::kPollerParkedAt, header_.load(layout::kPollerParkedAt) + 1);
  header_.count(layout::kParks);
  if (timedOut) header_.count(layout::kParkTimeouts);
}

}  // namespace queuepair
