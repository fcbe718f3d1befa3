// The wait set: readiness, the doorbell, and handlers that change registrations while they run.
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <functional>
#include <thread>

#include "core/os/clock.h"
#include "core/os/wait_set.h"
#include "test/check.h"

using namespace queuepair::os;

namespace {

struct Pair {
  Pair() {
    std::array<int, 2> both{};
    CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, both.data()) == 0);
    ours = FileDescriptor(both[0]);
    theirs = FileDescriptor(both[1]);
  }
  void poke() const { CHECK(write(theirs.get(), "x", 1) == 1); }
  void drain() const {
    char byte = 0;
    CHECK(read(ours.get(), &byte, 1) == 1);
  }
  FileDescriptor ours;
  FileDescriptor theirs;
};

struct Handler final : ReadyHandler {
  void onReady(bool readable, bool writable, bool hangup) override {
    ++calls;
    lastReadable = readable;
    lastWritable = writable;
    lastHangup = hangup;
    if (then) then();
  }
  int calls = 0;
  bool lastReadable = false;
  bool lastWritable = false;
  bool lastHangup = false;
  std::function<void()> then{};
};

}  // namespace

TEST(readinessIsCollectedThenDispatched) {
  WaitSet set;
  REQUIRE(set.valid());
  const Pair pair;
  Handler handler;
  CHECK(set.add(pair.ours.get(), true, false, &handler) != 0);
  CHECK(!set.wait(0));
  CHECK_EQ(set.dispatch(), 0U);
  pair.poke();
  CHECK(set.wait(1'000));
  CHECK_EQ(handler.calls, 0);
  CHECK_EQ(set.dispatch(), 1U);
  CHECK(handler.lastReadable && !handler.lastWritable && !handler.lastHangup);
  CHECK_EQ(set.dispatch(), 0U);
  CHECK(set.wait(0));  // level-triggered
  CHECK(set.wait(0));  // collected twice, dispatched once
  CHECK_EQ(set.dispatch(), 1U);
  pair.drain();
  CHECK(!set.wait(0));
}

TEST(interestChanges) {
  WaitSet set;
  const Pair pair;
  Handler handler;
  const WaitId id = set.add(pair.ours.get(), false, false, &handler);
  pair.poke();
  CHECK(!set.wait(0));
  set.change(id, false, true);
  CHECK(set.wait(0));
  set.dispatch();
  CHECK(handler.lastWritable && !handler.lastReadable);
  set.change(id, true, true);
  CHECK(set.wait(0));
  set.dispatch();
  CHECK(handler.lastWritable && handler.lastReadable);
  set.remove(id);
  CHECK(!set.wait(0));
  set.change(id, true, true);  // of a registration that is gone
  set.remove(id);
}

TEST(aHangupIsReportedWithItsData) {
  WaitSet set;
  Pair pair;
  Handler handler;
  const WaitId id = set.add(pair.ours.get(), true, false, &handler);
  pair.poke();
  pair.theirs.reset();
  CHECK(set.wait(0));
  set.dispatch();
  CHECK(handler.lastReadable && handler.lastHangup);
  set.remove(id);
}

TEST(addFailsWithErrno) {
  WaitSet set;
  const Pair pair;
  Handler handler;
  CHECK_EQ(set.add(-1, true, false, &handler), 0U);
  CHECK_EQ(errno, EBADF);
  CHECK(set.add(pair.ours.get(), true, false, &handler) != 0);
  CHECK_EQ(set.add(pair.ours.get(), true, false, &handler), 0U);
  CHECK_EQ(errno, EEXIST);
}

TEST(aRingIsConsumedByOneWait) {
  WaitSet set;
  for (int count = 0; count < 3; ++count) set.ring();
  CHECK(set.wait(10'000));
  CHECK(!set.wait(0));
  std::thread other([&] { set.ring(); });
  CHECK(set.wait(10'000));
  other.join();
  const std::uint64_t before = nowNanoseconds();
  CHECK(!set.wait(20));
  CHECK(nowNanoseconds() - before >= 20'000'000);
}

TEST(handlersMayRemoveThemselvesAndOthers) {
  WaitSet set;
  std::array<Pair, 3> pairs;
  std::array<Handler, 3> handlers;
  std::array<WaitId, 3> ids{};
  for (std::size_t index = 0; index < 3; ++index) {
    ids[index] = set.add(pairs[index].ours.get(), true, false, &handlers[index]);
    pairs[index].poke();
    handlers[index].then = [&] {
      for (WaitId& id : ids) set.remove(std::exchange(id, 0));
    };
  }
  CHECK(set.wait(0));
  CHECK_EQ(set.dispatch(), 1U);  // whichever came first removed them all
  CHECK_EQ(handlers[0].calls + handlers[1].calls + handlers[2].calls, 1);
  CHECK(!set.wait(0));
}

TEST(aStaleReadinessDoesNotReachItsSuccessor) {
  WaitSet set;
  const Pair first;
  const Pair second;
  Handler old;
  Handler fresh;
  const WaitId id = set.add(first.ours.get(), true, false, &old);
  first.poke();
  CHECK(set.wait(0));
  set.remove(id);
  const WaitId next = set.add(second.ours.get(), true, false, &fresh);  // in the same place
  CHECK(static_cast<std::uint32_t>(next) == static_cast<std::uint32_t>(id) && next != id);
  CHECK_EQ(set.dispatch(), 0U);
  CHECK_EQ(old.calls + fresh.calls, 0);
}

TEST(handlersMayAddWhileTheyRun) {
  WaitSet set;
  std::array<Pair, 40> pairs;
  std::array<Handler, 40> handlers;
  std::size_t added = 1;
  for (std::size_t index = 0; index < pairs.size(); ++index) {
    pairs[index].poke();
    handlers[index].then = [&, index] {
      pairs[index].drain();
      // The table of registrations grows under the dispatch.
      for (int more = 0; more < 10 && added < pairs.size(); ++more, ++added) {
        CHECK(set.add(pairs[added].ours.get(), true, false, &handlers[added]) != 0);
      }
    };
  }
  set.add(pairs[0].ours.get(), true, false, &handlers[0]);
  int calls = 0;
  while (set.wait(0)) calls += static_cast<int>(set.dispatch());
  CHECK_EQ(calls, 40);
}

TEST(moreReadyDescriptorsThanOneWaitReports) {
  WaitSet set;
  std::array<Pair, 150> pairs;
  std::array<Handler, 150> handlers;
  for (std::size_t index = 0; index < pairs.size(); ++index) {
    handlers[index].then = [&, index] { pairs[index].drain(); };
    set.add(pairs[index].ours.get(), true, false, &handlers[index]);
    pairs[index].poke();
  }
  for (int rounds = 0; rounds < 10 && set.wait(0); ++rounds) set.dispatch();
  for (const Handler& handler : handlers) CHECK_EQ(handler.calls, 1);
}
