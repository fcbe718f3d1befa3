// Opening that fails, and the end of a lane in every state.
#include "test/check.h"
#include "test/lane_fixture.h"

using namespace queuepair;
using namespace queuepair::test;

namespace {

std::size_t place(const FakeScript& script, const char* call) {
  const auto found = std::find(script.calls.begin(), script.calls.end(), call);
  return static_cast<std::size_t>(found - script.calls.begin());
}

void checkEverythingIsGone(const FakeScript& script) {
  CHECK(script.pairs.empty());
  CHECK(script.connectors.empty());
  CHECK(script.listeners.empty());
  CHECK(!script.queueAlive);
  CHECK(!script.adapterAlive);
  CHECK_EQ(script.reservedSlots, 0);
}

}  // namespace

TEST(openRefusesForeignMemory) {
  const auto refuses = [](std::size_t at, std::uint32_t value) {
    FakeScript script;
    FakeProvider provider(script);
    CountingWaker waker;
    TestOwner owner;
    owner.header().store(at, value);
    Failure failure;
    const auto lane = Lane::open(provider, owner.memory(), waker, failure);
    return lane == nullptr && failure.fault == Fault::kInvalidArgument && !failure.detail.empty();
  };
  CHECK(refuses(layout::kMagicAt, 1));
  CHECK(refuses(layout::kVersionAt, 99));
  CHECK(refuses(layout::kLaneIndexAt, 256));
  CHECK(refuses(layout::kSubmissionCapacityAt, 48));
  CHECK(refuses(layout::kSubmissionCapacityAt, 0));
  CHECK(refuses(layout::kSubmissionCapacityAt, 1U << 31));
  CHECK(refuses(layout::kCompletionCapacityAt, 1U << 20));
  CHECK(refuses(layout::kSubmissionRingAt, 0));
  CHECK(refuses(layout::kSubmissionRingAt, 0xffffffc0));
  CHECK(refuses(layout::kCompletionRingAt, layout::kHeaderBytes));
  FakeScript script;
  FakeProvider provider(script);
  CountingWaker waker;
  TestOwner owner;
  Failure failure;
  CHECK(Lane::open(provider, owner.memory().first(64), waker, failure) == nullptr);
}

TEST(openPassesTheProvidersFailureOn) {
  for (int which = 0; which < 2; ++which) {
    FakeScript script;
    (which == 0 ? script.adapterFails : script.queueFails) = true;
    FakeProvider provider(script);
    CountingWaker waker;
    TestOwner owner;
    Failure failure;
    CHECK(Lane::open(provider, owner.memory(), waker, failure) == nullptr);
    CHECK(failure.fault == Fault::kOutOfResources);
    CHECK_EQ(failure.osError, 12);
    CHECK(!script.adapterAlive);
  }
}

TEST(shutdownOfAnEmptyLane) {
  LaneFixture f;
  f.lane->shutdown();
  checkEverythingIsGone(f.script);
  f.lane->shutdown();
  CHECK(f.step() == Lane::StepResult::kIdle);
  CHECK(!f.lane->prepareToPark());
  CHECK(f.lane->stopRequested());
  CHECK_EQ(f.owner.header().load(layout::kTokenAt), 0U);
}

TEST(shutdownInEveryState) {
  for (const bool flushesAtOnce : {true, false}) {
    LaneFixture f;
    f.script.flushesAtOnce = flushesAtOnce;
    const Handle region = f.region(64);
    const Handle established = f.establish();
    const Handle disconnecting = f.establish();
    f.control(ControlKind::kDisconnect, disconnecting);
    const Handle connecting = f.lane->createConnection();
    f.control(ControlKind::kConnect, connecting);
    const Handle created = f.lane->createConnection();
    const Handle listener = f.lane->createListener();
    f.control(ControlKind::kListen, listener);
    f.settle();
    f.request(*f.script.listeners[0]);
    f.request(*f.script.listeners[0]);
    const Handle accepting = f.events().back().object;
    f.control(ControlKind::kAccept, accepting);
    f.control(ControlKind::kReleaseRegion, f.region(8));
    for (int count = 0; count < 6; ++count) f.submit(Opcode::kSend, established, region, 8);
    for (const Handle each : {disconnecting, connecting, created, accepting}) {
      f.submit(Opcode::kReceive, each, region, 8);
    }
    f.settle();
    f.script.calls.clear();
    f.submit(Opcode::kSend, established, region, 8);  // never drained
    f.control(ControlKind::kDestroy, established);    // never taken
    f.lane->shutdown();
    checkEverythingIsGone(f.script);
    CHECK_EQ(f.owner.takeAll().size(), 10U);
    CHECK(place(f.script, "destroyListener") < place(f.script, "destroyConnector"));
    CHECK(place(f.script, "destroyConnector") < place(f.script, "destroyPair"));
    CHECK(place(f.script, "destroyPair") < place(f.script, "destroyQueue"));
    CHECK(place(f.script, "destroyQueue") < place(f.script, "destroyAdapter"));
    f.lane->shutdown();
    f.settle();
    CHECK_EQ(f.waker.wakes.load(), 0);
    CHECK(!f.lane->visitRegion(region, [](Region&) {}));
    f.lane->control({.kind = ControlKind::kListen, .object = listener});
    CHECK(f.lane->createConnection().generation != 0);
    CHECK(f.step() == Lane::StepResult::kIdle);
  }
}

TEST(shutdownWhileArmed) {
  LaneFixture f;
  f.establish();
  REQUIRE(f.lane->prepareToPark());
  CHECK(f.script.armed);
  f.lane->shutdown();
  CHECK(!f.script.armed);
  checkEverythingIsGone(f.script);
}

TEST(shutdownWithHeldCompletionsAndABrokenRing) {
  LaneFixture f;
  f.script.completesAtOnce = true;
  const Handle connection = f.establish();
  f.lane->faults().arm(FaultPoint::kCompletionDelay, 0, 1, 1'000'000);
  f.submit(Opcode::kSend, connection);
  f.settle();
  f.owner.header().store(layout::kSubmissionTailAt, 0x80000000);
  f.step();
  f.lane->shutdown();
  CHECK_EQ(f.completions(), "0:flushed");
  checkEverythingIsGone(f.script);
}

TEST(theDestructorShutsDownWhateverTheTokenSays) {
  LaneFixture f;
  f.establish();
  f.owner.header().store(layout::kTokenAt, 7);  // something wrote over it
  CHECK(f.step() == Lane::StepResult::kBusy);
  f.lane = nullptr;
  checkEverythingIsGone(f.script);
}
