// One turn of the poller, in each mode; what a swallowed wake costs.
#include <semaphore>
#include <thread>

#include "core/os/clock.h"
#include "core/poller.h"
#include "test/check.h"
#include "test/lane_fixture.h"

using namespace queuepair;
using namespace queuepair::test;

namespace {

constexpr std::uint64_t kMs = 1'000'000;

std::uint64_t turnTime(Poller& poller) {
  const std::uint64_t before = os::nowNanoseconds();
  poller.turn();
  return os::nowNanoseconds() - before;
}

}  // namespace

TEST(spinNeverParks) {
  LaneFixture f;
  Poller poller(*f.lane, PollingMode::kSpin, 0);
  for (int count = 0; count < 20; ++count) CHECK(poller.turn() == Poller::TurnResult::kContinue);
  CHECK_EQ(f.owner.counter(layout::kParks), 0U);
  CHECK(f.owner.counter(layout::kSteps) > 20);  // 256 a turn, or what a millisecond allows
  CHECK(f.owner.counter(layout::kSteps) <= 5'120);
  CHECK(!f.script.armed);
}

TEST(eventParksAtOnce) {
  LaneFixture f;
  Poller poller(*f.lane, PollingMode::kEvent, 1'000'000'000);
  CHECK(turnTime(poller) >= 99 * kMs);
  CHECK_EQ(f.owner.counter(layout::kSteps), 1U);
  CHECK_EQ(f.owner.counter(layout::kIdleSteps), 1U);
  CHECK_EQ(f.owner.counter(layout::kParks), 1U);
  CHECK_EQ(f.owner.counter(layout::kParkTimeouts), 1U);
  CHECK(f.script.armed);  // until the next step
  f.step();
  CHECK(!f.script.armed);
  CHECK_EQ(f.owner.header().load(layout::kPollerParkedAt), 2U);
  f.lane->ring();
  CHECK(turnTime(poller) < 90 * kMs);
  CHECK_EQ(f.owner.counter(layout::kParkTimeouts), 1U);
}

TEST(adaptiveSpinsFirst) {
  LaneFixture f;
  Poller poller(*f.lane, PollingMode::kAdaptive, 30 * kMs);
  f.submit(Opcode::kSend, {});
  const std::uint64_t begin = os::nowNanoseconds();
  while (f.owner.counter(layout::kParks) == 0) poller.turn();
  CHECK(os::nowNanoseconds() - begin >= 130 * kMs);
  CHECK(f.owner.counter(layout::kIdleSteps) > 1);
}

TEST(aTurnIsBoundedWhenThereIsAlwaysWork) {
  LaneFixture f;
  Poller poller(*f.lane, PollingMode::kAdaptive, 0);
  std::function<void(AdapterEvents&)> endless = [&](AdapterEvents&) { f.notice(endless); };
  f.notice(endless);
  CHECK(turnTime(poller) < 90 * kMs);
  CHECK_EQ(f.owner.counter(layout::kParks), 0U);
}

TEST(stopEndsATurn) {
  LaneFixture f;
  Poller poller(*f.lane, PollingMode::kEvent, 0);
  std::thread stopper([&] {
    while (!f.owner.pollerIsParked()) std::this_thread::yield();
    f.lane->requestStop();
  });
  CHECK(poller.turn() == Poller::TurnResult::kStopped);
  stopper.join();
  CHECK_EQ(f.owner.counter(layout::kParkTimeouts), 0U);
  CHECK(poller.turn() == Poller::TurnResult::kStopped);
}

TEST(itDoesNotParkWhenThereIsWork) {
  LaneFixture f;
  CHECK(f.lane->prepareToPark());
  f.lane->unpark(false);
  f.submit(Opcode::kSend, {});
  CHECK(!f.lane->prepareToPark());
  f.settle();
  f.control(ControlKind::kDestroy, {});
  CHECK(!f.lane->prepareToPark());
  f.settle();
  f.script.armAnswer = false;
  CHECK(!f.lane->prepareToPark());
  f.script.armAnswer = true;
  f.owner.header().store(layout::kTokenAt, 1);
  CHECK(!f.lane->prepareToPark());
  f.owner.header().store(layout::kTokenAt, 0);
  CHECK(f.lane->prepareToPark());
  f.lane->unpark(false);
  f.owner.header().store(layout::kStopAt, 1);
  CHECK(!f.lane->prepareToPark());
  CHECK_EQ(f.owner.header().load(layout::kPollerParkedAt) & 1, 0U);
}

TEST(itParksNoLongerThanTheProvidersDeadline) {
  LaneFixture f;
  Poller poller(*f.lane, PollingMode::kEvent, 0);
  f.script.deadline = os::nowNanoseconds() + 5 * kMs;
  CHECK(turnTime(poller) < 90 * kMs);
  CHECK(os::nowNanoseconds() >= f.script.deadline);
  f.script.deadline = 1;  // long past
  CHECK(turnTime(poller) < 90 * kMs);
}

TEST(workThatTheProviderPutsOffIsOfferedAgainSoon) {
  LaneFixture f;
  const Handle connection = f.establish();
  f.script.post = PostResult::kAgain;
  f.submit(Opcode::kSend, connection);
  Poller poller(*f.lane, PollingMode::kEvent, 0);
  poller.turn();
  CHECK(turnTime(poller) < 90 * kMs);
  f.script.post = PostResult::kPosted;
  poller.turn();
  CHECK_EQ(f.script.count("send"), 1U);
}

TEST(itWatchesWhileAnotherRoleSteps) {
  LaneFixture f;
  Poller poller(*f.lane, PollingMode::kEvent, 0);
  f.owner.header().store(layout::kTokenAt, static_cast<std::uint32_t>(Role::kOwner));
  CHECK(turnTime(poller) < 90 * kMs);
  CHECK_EQ(f.owner.counter(layout::kParks), 0U);
  f.owner.header().store(layout::kTokenAt, 0);
}

// The doorbell does not ring: the backstop finds the work.
TEST(aSwallowedDoorbellCostsOneBackstop) {
  LaneFixture f;
  f.script.completesAtOnce = true;
  const Handle connection = f.establish();
  Poller poller(*f.lane, PollingMode::kEvent, 0);
  f.lane->faults().arm(FaultPoint::kPollerWakeSwallowed, 0, 1, 0);
  std::thread submitter([&] {
    while (!f.owner.pollerIsParked()) std::this_thread::yield();
    f.submit(Opcode::kSend, connection);
    if (f.owner.pollerIsParked()) f.lane->ring();
  });
  CHECK(turnTime(poller) >= 99 * kMs);
  submitter.join();
  f.lane->ring();  // so that the next park is short
  poller.turn();
  CHECK_EQ(f.completions(), "0:success");
}

// The owner's wake gets lost: it is repeated, in every mode.
TEST(aSwallowedOwnerWakeCostsAboutOneBackstop) {
  for (const PollingMode mode : {PollingMode::kEvent, PollingMode::kAdaptive, PollingMode::kSpin}) {
    LaneFixture f;
    f.script.completesAtOnce = true;
    const Handle connection = f.establish();
    Poller poller(*f.lane, mode, 50'000);
    f.lane->faults().arm(FaultPoint::kOwnerWakeSwallowed, 0, 1, 0);
    f.owner.arm();
    f.submit(Opcode::kSend, connection);
    const std::uint64_t begin = os::nowNanoseconds();
    while (f.waker.wakes == 0 && os::nowNanoseconds() - begin < 5'000 * kMs) poller.turn();
    const std::uint64_t took = os::nowNanoseconds() - begin;
    CHECK(took >= 99 * kMs && took < 400 * kMs);
    CHECK_EQ(f.owner.counter(layout::kOwnerWakes), 2U);
    f.owner.takeAll();
    for (int count = 0; count < 3; ++count) poller.turn();
    CHECK_EQ(f.waker.wakes.load(), 1);  // nothing is left to wake for
  }
}
