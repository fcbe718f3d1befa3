#include "core/poller.h"

#include "core/os/clock.h"

namespace queuepair {
namespace {

using TurnResult = Poller::TurnResult;
using StepResult = Lane::StepResult;

// A turn's bounds. A millisecond of native code between two JavaScript calls delays nobody who ends
// the worker, and the call itself costs nothing beside it.
constexpr std::uint64_t kTurnNanoseconds = 1'000'000;
constexpr int kTurnIdleSteps = 256;
// The backstop: what a lost doorbell costs at most (rdma-peers.md, B1).
constexpr int kParkMs = 100;
// While another role steps, the poller looks this often whether it still does.
constexpr int kWatchMs = 1;
// A poller that never parks looks at its descriptors this often. A look is a system call of about
// 1 µs, so this costs 2 % of the spinning, and a peer's death or connection waits no longer than
// that.
constexpr std::uint64_t kLookEveryNanoseconds = 50'000;

}  // namespace

Poller::Poller(Lane& lane, PollingMode mode, std::uint64_t spinNanoseconds) noexcept
    : lane_(lane), header_(lane.header()), mode_(mode), spinNanoseconds_(spinNanoseconds) {}

TurnResult Poller::turn() {
  const std::uint64_t start = os::nowNanoseconds();
  std::uint64_t now = start;
  for (int idleSteps = 0; idleSteps < kTurnIdleSteps && now - start < kTurnNanoseconds;) {
    if (lane_.stopRequested()) return TurnResult::kStopped;
    const StepResult result = stepOnce();
    now = os::nowNanoseconds();
    if (result == StepResult::kMoved) {
      lastActivity_ = now;
    } else {
      ++idleSteps;
      if (rest(result, now)) break;
      os::pauseProcessor();
    }
    lookNowAndThen(now);
  }
  return lane_.stopRequested() ? TurnResult::kStopped : TurnResult::kContinue;
}

StepResult Poller::stepOnce() {
  const StepResult result = lane_.step(Role::kPoller);
  header_.count(layout::kSteps);
  if (result == StepResult::kIdle) header_.count(layout::kIdleSteps);
  return result;
}

bool Poller::rest(StepResult last, std::uint64_t now) {
  if (mode_ == PollingMode::kSpin) return false;
  const bool spins = mode_ == PollingMode::kAdaptive && now - lastActivity_ < spinNanoseconds_;
  if (spins) return false;
  if (last == StepResult::kBusy) {
    watch();
  } else {
    park();
  }
  return true;
}

void Poller::park() {
  if (!lane_.prepareToPark()) return;
  enter(PollerState::kParked);
  const bool woken = lane_.park(kParkMs);
  lane_.unpark(!woken);
  enter(PollerState::kStepping);
  lastLook_ = os::nowNanoseconds();
  if (woken) lastActivity_ = lastLook_;  // what woke us is likely to go on
}

// The holder of the token has been told to look again, so nothing waits for this.
void Poller::watch() {
  enter(PollerState::kWatching);
  lane_.look(kWatchMs);
  enter(PollerState::kStepping);
}

void Poller::lookNowAndThen(std::uint64_t now) {
  if (now - lastLook_ < kLookEveryNanoseconds) return;
  lastLook_ = now;
  lane_.look(0);
}

void Poller::enter(PollerState state) {
  if (state == state_) return;
  state_ = state;
  header_.store(layout::kPollerStateAt, static_cast<std::uint32_t>(state));
}

}  // namespace queuepair
