// Two sides on two threads, each parking whenever it has nothing to do: a lost wake shows as a wait
// that times out.
#include <atomic>
#include <cstring>
#include <thread>

#include "test/check.h"
#include "test/shm_fixture.h"

using namespace shmtest;

namespace {

constexpr int kPatienceMs = 20'000;  // far beyond any delay of a loaded machine

/// Steps, and sleeps when there is nothing to do. False: nobody woke it.
bool stepOrSleep(Host& host, int spins) {
  for (int i = 0; i < spins; ++i) {
    if (host.step()) return true;
  }
  bool woken = true;
  if (host.adapter->arm()) woken = host.waitSet.wait(kPatienceMs);
  host.adapter->disarm();
  host.waitSet.dispatch();
  host.step();
  return woken;
}

struct Side {
  Host& host;
  QueuePair& pair;
  bool sendsFirst;
};

std::uint64_t firstWord(const Memory& memory) {
  std::uint64_t value = 0;
  std::memcpy(&value, memory.bytes().data(), sizeof(value));
  return value;
}

/// Ping-pong with a counter as the payload.
void play(Side side, std::uint64_t rounds, std::size_t length, int spins) {
  const Memory out = Memory::engine(length);
  const Memory in = Memory::plain(length);
  std::uint64_t sent = 0;
  std::uint64_t received = 0;
  const auto receive = [&] {
    CHECK(side.pair.postReceive(request(Opcode::kReceive, 0, {in.all()})) == PostResult::kPosted);
  };
  const auto send = [&] {
    ++sent;
    std::memcpy(out.bytes().data(), &sent, sizeof(sent));
    CHECK(side.pair.postSend(request(Opcode::kSend, 0, {out.all()})) == PostResult::kPosted);
    side.pair.ringDoorbell();
  };
  receive();
  if (side.sendsFirst) send();
  std::uint64_t completed = 0;
  while (received < rounds || completed < rounds) {
    if (!stepOrSleep(side.host, spins)) {
      check::fail(__FILE__, __LINE__, "a wake was lost");
      return;
    }
    bool answer = false;
    for (const WorkCompletion& completion : side.host.completions) {
      CHECK_EQ(completion.status, Status::kSuccess);
      if (completion.opcode == Opcode::kSend) {
        ++completed;
        continue;
      }
      CHECK_EQ(firstWord(in), ++received);
      answer = true;
      if (received < rounds) receive();
    }
    side.host.completions.clear();
    // `out` is free again once the peer answered: it had then placed what was sent.
    if (answer && sent < rounds) send();
  }
}

/// As many messages as fit, one way.
void pour(Side side, std::uint64_t messages, std::size_t length, int spins) {
  const Memory memory = Memory::engine(length);
  std::uint64_t posted = 0;
  std::uint64_t done = 0;
  while (done < messages) {
    while (posted < messages && posted - done < 64) {
      const PostResult result =
          side.sendsFirst
              ? side.pair.postSend(request(Opcode::kSend, posted, {memory.all()}))
              : side.pair.postReceive(request(Opcode::kReceive, posted, {memory.all()}));
      CHECK(result == PostResult::kPosted);
      ++posted;
    }
    side.pair.ringDoorbell();
    if (!stepOrSleep(side.host, spins)) {
      check::fail(__FILE__, __LINE__, "a wake was lost");
      return;
    }
    for (const WorkCompletion& completion : side.host.completions) {
      CHECK_EQ(completion.status, Status::kSuccess);
      CHECK_EQ(completion.id, done++);
    }
    side.host.completions.clear();
  }
}

template <typename Body>
void onTwoThreads(Body body) {
  Pair pair;
  REQUIRE(pair.connect());
  std::thread other([&] { body(Side{pair.b, *pair.qpB, false}); });
  body(Side{pair.a, *pair.qpA, true});
  other.join();
}

}  // namespace

TEST(no_wake_is_lost_in_a_ping_pong) {
  for (const int spins : {1, 3, 50}) {
    onTwoThreads([&](Side side) { play(side, 3'000, 8, spins); });
  }
}

TEST(no_wake_is_lost_with_staged_and_mapped_messages) {
  onTwoThreads([](Side side) { play(side, 500, 10'000, 1); });
  onTwoThreads([](Side side) { play(side, 300, 40'000, 1); });
  onTwoThreads([](Side side) { play(side, 30, 2'000'000, 1); });
}

TEST(no_wake_is_lost_in_a_stream) {
  for (const int spins : {1, 20}) {
    onTwoThreads([&](Side side) { pour(side, 10'000, 32, spins); });
    onTwoThreads([&](Side side) { pour(side, 500, 16'000, spins); });
    onTwoThreads([&](Side side) { pour(side, 300, 100'000, spins); });
  }
}

TEST(a_sleeping_side_is_woken_by_its_peers_end) {
  for (const bool inOrder : {true, false}) {
    Pair pair;
    REQUIRE(pair.connect());
    std::thread other([&] {
      while (pair.b.events.disconnected.empty()) {
        if (!stepOrSleep(pair.b, 1)) {
          check::fail(__FILE__, __LINE__, "a wake was lost");
          return;
        }
      }
    });
    if (inOrder) {
      pair.connA->disconnect();
      pair.a.step();
    }
    pair.connA.reset();
    other.join();
    CHECK_EQ(pair.b.events.endOf(*pair.connB), inOrder ? Fault::kPeerClosed : Fault::kPeerLost);
  }
}
