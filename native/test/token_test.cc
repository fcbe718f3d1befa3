// The progress token between real threads; TSan sees every unprotected access that it lets through.
#include <array>
#include <atomic>
#include <thread>
#include <vector>

#include "core/poller.h"
#include "test/check.h"
#include "test/lane_fixture.h"

using namespace queuepair;
using namespace queuepair::test;

namespace {

// Both threads pass it together.
class Barrier {
 public:
  void pass() {
    const int mine = ++passed_;
    const int both = (mine + 1) / 2 * 2;
    for (int looks = 0; passed_ < both; ++looks) {
      if (looks > 1'000) std::this_thread::yield();
    }
  }

 private:
  std::atomic<int> passed_{0};
};

// The protocol alone: whoever brings work tries once; whoever holds the token does all that there
// is.
struct Workplace {
  explicit Workplace(SharedHeader header) : token(header) {}
  void step(Role role) {
    do {
      if (!token.tryTake(role)) return;
      for (std::atomic<int>& each : brought) done += each.exchange(0);
    } while (token.release());
  }
  ProgressToken token;
  std::array<std::atomic<int>, 2> brought{};
  int done = 0;  // plain: the token guards it
};

// One side of "store mine, then look at yours", round after round: what each saw of the other.
void storeThenLoad(SharedHeader header, Barrier& barrier, std::size_t mine, std::size_t yours,
                   std::vector<bool>& saw) {
  for (std::uint32_t round = 0; round < saw.size(); ++round) {
    barrier.pass();
    header.store(mine, round + 1);
    saw[round] = header.load(yours) == round + 1;
  }
}

void bringWork(Workplace& place, Barrier& barrier, Role role, int rounds) {
  const auto index = static_cast<std::size_t>(role) - 1;
  for (int round = 0; round < rounds; ++round) {
    barrier.pass();
    ++place.brought[index];
    place.step(role);
    barrier.pass();
    if (role != Role::kOwner) continue;
    CHECK(place.brought[0] == 0 && place.brought[1] == 0);
  }
}

}  // namespace

// What every pair of flags relies on. With weaker stores a few rounds in a thousand fail.
TEST(ofTwoWhoStoreThenLoadOneSeesTheOther) {
  constexpr std::size_t kRounds = 100'000;
  const TestOwner owner;
  const SharedHeader header = owner.header();
  Barrier barrier;
  std::vector<bool> first(kRounds);
  std::vector<bool> second(kRounds);
  std::thread other([&] {
    storeThenLoad(header, barrier, layout::kPollerParkedAt, layout::kSubmissionTailAt, first);
  });
  storeThenLoad(header, barrier, layout::kSubmissionTailAt, layout::kPollerParkedAt, second);
  other.join();
  int missed = 0;
  for (std::size_t round = 0; round < kRounds; ++round) missed += !first[round] && !second[round];
  CHECK_EQ(missed, 0);
}

TEST(noWorkIsLostBetweenAFailedTryAndARelease) {
  constexpr int kRounds = 20'000;
  TestOwner owner;
  Workplace place(owner.header());
  Barrier barrier;
  std::thread other([&] { bringWork(place, barrier, Role::kPoller, kRounds); });
  bringWork(place, barrier, Role::kOwner, kRounds);
  other.join();
  CHECK_EQ(place.done, 2 * kRounds);
  CHECK_EQ(owner.header().load(layout::kTokenAt), 0U);
}

TEST(theTokenHasOneHolder) {
  TestOwner owner;
  ProgressToken token(owner.header());
  CHECK(token.tryTake(Role::kOwner));
  CHECK_EQ(owner.header().load(layout::kTokenAt), 1U);
  CHECK(!token.tryTake(Role::kPoller));
  CHECK_EQ(owner.header().load(layout::kAgainAt), 1U);
  CHECK(token.release());
  CHECK(token.tryTake(Role::kPoller));
  CHECK_EQ(owner.header().load(layout::kTokenAt), 2U);
  CHECK(!token.release());
}

// The owner submits and steps inline while the poller steps as well.
TEST(ownerAndPollerBothStep) {
  constexpr std::uint32_t kOperations = 30'000;
  constexpr std::uint32_t kWindow = 48;
  LaneFixture f;
  f.script.completesAtOnce = true;
  const Handle region = f.region(64);
  const Handle connection = f.establish();
  std::thread poller([&] {
    Poller turns(*f.lane, PollingMode::kAdaptive, 20'000);
    while (turns.turn() == Poller::TurnResult::kContinue) std::this_thread::yield();
  });
  std::uint32_t submitted = 0;
  std::uint32_t completed = 0;
  while (completed < kOperations) {
    while (submitted < kOperations && submitted - completed < kWindow && f.owner.hasSpace()) {
      SubmissionRecord record = f.record(Opcode::kSend, connection, region, 1);
      record.operationSlot = submitted % kWindow;
      record.operationGeneration = ++submitted;
      f.owner.submit(record);
      if (f.owner.pollerIsParked()) f.lane->ring();
    }
    f.lane->step(Role::kOwner);
    for (const CompletionRecord& record : f.owner.takeAll()) {
      REQUIRE(CHECK_EQ(record.operationGeneration, ++completed));
    }
  }
  f.lane->requestStop();
  poller.join();
  f.lane->shutdown();
}

// Connections and regions come and go from the owner's thread while both step.
TEST(controlFromTheOwnerWhileThePollerSteps) {
  LaneFixture f;
  f.script.connect = ControlResult::done();
  std::thread poller([&] {
    Poller turns(*f.lane, PollingMode::kAdaptive, 20'000);
    while (turns.turn() == Poller::TurnResult::kContinue) std::this_thread::yield();
  });
  for (int round = 0; round < 2'000; ++round) {
    const Handle connection = f.lane->createConnection();
    const Handle region = f.region(64);
    SubmissionRecord record = f.record(Opcode::kReceive, connection, region, 8);
    record.operationSlot = 0;
    f.owner.submit(record);
    f.control(ControlKind::kConnect, connection);
    f.control(ControlKind::kReleaseRegion, region);
    f.lane->visitRegion(region, [](Region&) {});
    f.control(ControlKind::kDestroy, connection);
    f.lane->step(Role::kOwner);
    for (std::size_t events = 0; events < 3;) {
      events += f.events().size();
      f.lane->step(Role::kOwner);
    }
    CHECK_EQ(f.completions(), "0:flushed");
    f.buffers.clear();
  }
  f.lane->requestStop();
  poller.join();
}

TEST(shutdownMeetsAStepThatStalls) {
  LaneFixture f;
  f.establish();
  f.lane->faults().arm(FaultPoint::kStepStalls, 0, 1, 50'000);
  std::thread poller([&] { f.lane->step(Role::kPoller); });
  std::this_thread::sleep_for(std::chrono::milliseconds(10));  // most likely it stalls by now
  f.lane->shutdown();
  poller.join();
  CHECK(f.script.pairs.empty() && !f.script.adapterAlive);
}
