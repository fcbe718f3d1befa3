// Releasing regions: not before the work on them, the visits to them and the provider are done.
#include <thread>

#include "test/check.h"
#include "test/lane_fixture.h"

using namespace queuepair;
using namespace queuepair::test;

TEST(releaseWaitsForTheWorkOnTheRegion) {
  LaneFixture f;
  const Handle region = f.region(64);
  const Handle connection = f.establish();
  f.submit(Opcode::kSend, connection, region, 64);
  f.control(ControlKind::kReleaseRegion, region);
  f.control(ControlKind::kReleaseRegion, region);
  f.settle();
  CHECK_EQ(kindsOf(f.events()), "");
  CHECK_EQ(f.script.count("deregister"), 0U);
  FakeQueuePair* pair = f.script.pairs[0];
  pair->complete(pair->sends);
  f.settle();
  CHECK_EQ(f.completions(), "0:success");
  CHECK_EQ(f.script.count("deregister"), 1U);
  CHECK_EQ(kindsOf(f.events()), "released");
}

TEST(newWorkOnARegionBeingReleasedIsRefused) {
  LaneFixture f;
  const Handle region = f.region(64);
  const Handle first = f.establish();
  const Handle second = f.establish();
  f.submit(Opcode::kSend, first, region, 64);
  f.control(ControlKind::kReleaseRegion, region);
  f.settle();
  f.submit(Opcode::kSend, second, region, 64);
  f.settle();
  CHECK_EQ(f.completions(), "1:local-protection");
  CHECK_EQ(kindsOf(f.events()), "disconnected");
}

TEST(pendingDeregistration) {
  LaneFixture f;
  Region* asked = nullptr;
  const Handle region = f.region(64);
  f.script.deregister = ControlResult::pending();
  f.lane->visitRegion(region, [](Region&) {});
  f.control(ControlKind::kReleaseRegion, region);
  f.settle();
  CHECK_EQ(f.script.count("deregister"), 1U);
  CHECK_EQ(kindsOf(f.events()), "");
  asked = f.script.deregistered.back();
  REQUIRE(asked != nullptr);
  f.notice([asked](AdapterEvents& to) {
    to.onDeregistered(*asked);
    to.onDeregistered(*asked);
  });
  f.settle();
  const std::vector<Event> events = f.events();
  CHECK_EQ(kindsOf(events), "released");
  CHECK_EQ(events[0].object.slot, region.slot);
  CHECK(!f.lane->visitRegion(region, [](Region&) {}));
}

TEST(failedDeregistrationStillEnds) {
  LaneFixture f;
  f.script.deregister = ControlResult::failed({.fault = Fault::kPeerLost});
  f.control(ControlKind::kReleaseRegion, f.region(64));
  f.settle();
  const std::vector<Event> events = f.events();
  CHECK_EQ(kindsOf(events), "released");
  CHECK(events[0].failure.fault == Fault::kPeerLost);
}

namespace {
std::atomic<int> visitStage{0};
}  // namespace

TEST(releaseWaitsForAVisit) {
  LaneFixture f;
  const Handle region = f.region(64);
  visitStage = 0;
  std::thread visitor([&] {
    const bool found = f.lane->visitRegion(region, [](Region& visited) {
      visitStage = 1;
      while (visitStage != 2) std::this_thread::yield();
      visited.data()[0] = std::byte{9};
    });
    CHECK(found);
  });
  while (visitStage != 1) std::this_thread::yield();
  f.control(ControlKind::kReleaseRegion, region);
  f.settle();
  CHECK_EQ(f.script.count("deregister"), 1U);
  CHECK_EQ(kindsOf(f.events()), "");
  CHECK(!f.lane->visitRegion(region, [](Region&) {}));
  REQUIRE(f.lane->prepareToPark());
  visitStage = 2;
  CHECK(f.lane->park(10'000));  // the visitor rings
  f.lane->unpark(false);
  visitor.join();
  f.settle();
  CHECK_EQ(kindsOf(f.events()), "released");
}

TEST(flushedWorkLetsGoOfItsRegions) {
  LaneFixture f;
  const Handle region = f.region(64);
  const Handle connection = f.lane->createConnection();
  f.submit(Opcode::kReceive, connection, region, 64);  // waits: there is no pair
  f.control(ControlKind::kReleaseRegion, region);
  f.settle();
  CHECK_EQ(kindsOf(f.events()), "");
  f.control(ControlKind::kDestroy, connection);
  f.settle();
  CHECK_EQ(f.completions(), "0:flushed");
  CHECK_EQ(kindsOf(f.events()), "destroyed released");
}
