// An owner that submits, sleeps until it is woken and takes its completion, and a poller that parks
// in between, again and again. The backstops would hide a lost wake, so both sides look for what
// only a backstop ended.
#pragma once

#include <atomic>
#include <cstdio>
#include <semaphore>
#include <thread>

#include "core/os/clock.h"
#include "core/poller.h"
#include "test/check.h"
#include "test/lane_fixture.h"

namespace queuepair::test {

#if defined(__SANITIZE_THREAD__)
inline constexpr std::uint32_t kCycles = 100'000;
#else
inline constexpr std::uint32_t kCycles = 500'000;
#endif
// A machine with other work gets as far as it gets.
inline constexpr std::uint64_t kMostNanoseconds = 40'000'000'000;
// Every other completion is held back so many steps, or the owner would find it before it slept.
inline constexpr std::uint64_t kHeldSteps = 48;

// Called on the poller's thread, as all of this but sleep().
class WatchedWaker final : public OwnerWaker {
 public:
  explicit WatchedWaker(SharedHeader header) : header_(header) {}
  void beginTurn() { tailAtTurn_ = header_.load(layout::kCompletionTailAt); }
  // A wake without news is a repetition. It is in order while a slow owner is on its way; for an
  // arming that had no wake yet, one was lost.
  void wake() noexcept override {
    const std::uint32_t armed = header_.load(layout::kOwnerArmedAt);
    const bool news = header_.load(layout::kCompletionTailAt) != tailAtTurn_;
    if (!news && (armed & 1) != 0 && armed != lastArmed_) ++lost;
    lastArmed_ = armed;
    wakes_.release();
  }
  void sleep() { wakes_.acquire(); }

  std::uint64_t lost = 0;

 private:
  SharedHeader header_;
  std::counting_semaphore<> wakes_{0};
  std::uint32_t tailAtTurn_ = 0;
  std::uint32_t lastArmed_ = 0;
};

struct Exchange {
  explicit Exchange(bool swallowsDoorbells = false) : swallows(swallowsDoorbells) {
    f.script.completesAtOnce = true;
    f.script.connect = ControlResult::done();
    f.lane = Lane::open(f.provider, f.owner.memory(), waker, f.failure);
    connection = f.lane->createConnection();
    f.control(ControlKind::kConnect, connection);
    f.settle();
  }

  // --- the owner's thread, as the engine does it ---
  // A moment of up to about a microsecond, so that the two sides' stores meet at every distance.
  void dawdle() {
    random = random * 1'664'525 + 1'013'904'223;
    for (volatile std::uint32_t left = (random >> 16) % 512; left > 0;) left = left - 1;
  }
  // Half of the time it stays awake a little: then the next record comes while the poller parks.
  void awaitCompletion() {
    if ((random & (1U << 20)) != 0) {
      for (int looks = 0; looks < 2'000; ++looks) {
        if (f.owner.hasCompletions()) return;
      }
    }
    dawdle();
    f.owner.arm();
    if (!f.owner.hasCompletions()) {
      ++sleeps;
      waker.sleep();
    }
    f.owner.disarm();
  }
  void cycle(std::uint32_t generation) {
    SubmissionRecord record = f.record(Opcode::kSend, connection);
    record.operationSlot = 0;
    record.operationGeneration = generation;
    if (generation % 2 == 0) {
      f.lane->faults().arm(FaultPoint::kCompletionDelay, 0, 1, kHeldSteps);
    }
    dawdle();
    f.owner.submit(record);
    const std::uint32_t seen = f.owner.header().load(layout::kPollerParkedAt);
    if ((seen & 1) != 0 && !swallows) {
      f.lane->ring();
    } else {
      silentFor = (std::uint64_t{generation} << 32) | (seen & ~1U);
    }
    CompletionRecord done{};
    while (!f.owner.take(done)) awaitCompletion();
    if (done.operationGeneration != generation) check::fail(__FILE__, __LINE__, "another's record");
  }

  // --- the poller's thread ---
  void pollUntilStopped(PollingMode mode, std::uint64_t spin) {
    Poller poller(*f.lane, mode, spin);
    while (true) {
      waker.beginTurn();
      const std::uint64_t timeouts = f.owner.counter(layout::kParkTimeouts);
      if (poller.turn() == Poller::TurnResult::kStopped) return;
      if (f.owner.counter(layout::kParkTimeouts) != timeouts) lookForLostDoorbell();
    }
  }
  // After a park that timed out, before any step: is there a record for which the owner did not
  // ring, since the poller was still awake? Then one of the two failed to see the other.
  void lookForLostDoorbell() {
    const std::uint64_t silent = silentFor;
    const auto generation = static_cast<std::uint32_t>(silent >> 32);
    const auto awakeAt = static_cast<std::uint32_t>(silent);
    const std::uint32_t awakeNow = f.owner.header().load(layout::kPollerParkedAt);
    const bool waits = f.owner.header().load(layout::kSubmissionHeadAt) - firstHead < generation;
    if (waits && awakeAt != awakeNow) ++lostDoorbells;
  }

  void run(std::uint32_t cycles, PollingMode mode, std::uint64_t spin) {
    firstHead = f.owner.header().load(layout::kSubmissionHeadAt);
    std::thread poller([&] { pollUntilStopped(mode, spin); });
    const std::uint64_t begin = os::nowNanoseconds();
    std::uint64_t took = 0;
    std::uint32_t done = 0;
    while (done < cycles && took < kMostNanoseconds) {
      cycle(++done);
      if (done % 64 == 0 || done == cycles) took = os::nowNanoseconds() - begin;
    }
    f.lane->requestStop();
    poller.join();
    const auto number = [](std::uint64_t value) { return static_cast<unsigned long long>(value); };
    std::fprintf(stderr,
                 "%u cycles in %llu ms: %llu parks, %llu timed out; %llu sleeps, %llu wakes\n",
                 done, number(took / 1'000'000), number(f.owner.counter(layout::kParks)),
                 number(f.owner.counter(layout::kParkTimeouts)), number(sleeps),
                 number(f.owner.counter(layout::kOwnerWakes)));
  }
  void checkNothingWasLost() const {
    CHECK_EQ(waker.lost, 0U);
    CHECK_EQ(lostDoorbells, 0U);
    CHECK(sleeps > 0);
  }

  LaneFixture f{};
  WatchedWaker waker{f.owner.header()};
  Handle connection{};
  bool swallows;
  std::atomic<std::uint64_t> silentFor{0};  // generation, and kPollerParkedAt as it was seen
  std::uint32_t firstHead = 0;
  std::uint64_t lostDoorbells = 0;
  std::uint32_t random = 1;
  std::uint64_t sleeps = 0;
};

}  // namespace queuepair::test
