// Length errors, flushes, and peers that go away.
#include <algorithm>

#include "test/check.h"
#include "test/shm_fixture.h"

using namespace shmtest;

namespace {

void send(Pair& pair, std::uint64_t id, const Memory& memory, std::size_t length) {
  CHECK(pair.qpA->postSend(request(Opcode::kSend, id, {memory.segment(0, length)})) ==
        PostResult::kPosted);
}

void receive(Pair& pair, std::uint64_t id, const Memory& memory, std::size_t length) {
  CHECK(pair.qpB->postReceive(request(Opcode::kReceive, id, {memory.segment(0, length)})) ==
        PostResult::kPosted);
}

std::vector<std::uint64_t> idsOf(const Host& host) {
  std::vector<std::uint64_t> ids;
  for (const WorkCompletion& completion : host.completions) ids.push_back(completion.id);
  return ids;
}

}  // namespace

TEST(a_message_too_long_fails_its_receive_and_its_send) {
  for (const std::size_t size : {11UL, 97UL, 10'000UL, 100'000UL}) {
    for (const bool engine : {true, false}) {
      Pair pair;
      REQUIRE(pair.connect());
      const Memory from = engine ? Memory::engine(size) : Memory::plain(size);
      const Memory to = Memory::plain(size);
      send(pair, 1, from, 10);
      send(pair, 2, from, size);
      send(pair, 3, from, 10);
      receive(pair, 1, to, 10);
      receive(pair, 2, to, size - 1);
      receive(pair, 3, to, size);
      pair.qpA->ringDoorbell();
      pair.settle();
      REQUIRE(pair.b.completions.size() == 2);
      CHECK_EQ(pair.b.completions[0].status, Status::kSuccess);
      CHECK_EQ(pair.b.completions[1].status, Status::kLocalLength);
      CHECK_EQ(pair.b.completions[1].result, size);
      REQUIRE(pair.a.completions.size() == 2);
      CHECK_EQ(pair.a.completions[0].status, Status::kSuccess);
      CHECK_EQ(pair.a.completions[1].status, Status::kRemoteInvalidRequest);
      // What the lane does then.
      pair.qpA->fail();
      pair.qpB->fail();
      pair.settle();
      CHECK_EQ(find(pair.a, 3)->status, Status::kFlushed);
      CHECK_EQ(find(pair.b, 3)->status, Status::kFlushed);
      CHECK(pair.qpA->postSend(request(Opcode::kSend, 4, {from.all()})) == PostResult::kRefused);
      CHECK(pair.qpB->postReceive(request(Opcode::kReceive, 4, {to.all()})) ==
            PostResult::kRefused);
    }
  }
}

TEST(the_sender_learns_of_a_length_error_although_the_receiver_is_gone) {
  for (const std::size_t size : {20UL, 200'000UL}) {
    Pair pair;
    REQUIRE(pair.connect());
    const Memory from = Memory::plain(size);
    const Memory to = Memory::plain(10);
    send(pair, 1, from, 10);
    send(pair, 2, from, size);
    receive(pair, 1, to, 10);
    receive(pair, 2, to, 10);
    pair.qpA->ringDoorbell();
    while (pair.b.step()) {
    }
    pair.qpB->fail();
    pair.connB.reset();
    pair.qpB.reset();
    CHECK(pair.drive([&] { return !pair.a.events.disconnected.empty(); }, 100));
    REQUIRE(pair.a.completions.size() == 2);
    CHECK_EQ(pair.a.completions[0].status, Status::kSuccess);
    CHECK_EQ(pair.a.completions[1].status, Status::kRemoteInvalidRequest);
    CHECK_EQ(pair.a.events.endOf(*pair.connA), Fault::kPeerLost);
  }
}

TEST(fail_flushes_what_is_posted_in_order) {
  Pair pair;
  REQUIRE(pair.connect());
  const Memory memory = Memory::plain(100'000);
  for (std::uint64_t id = 1; id <= 10; ++id) {
    pair.qpA->postReceive(request(Opcode::kReceive, 100 + id, {memory.all()}));
    send(pair, id, memory, id == 4 ? 100'000 : 10);
  }
  pair.qpA->postSend(request(Opcode::kFlush, 11, {}));
  pair.qpA->ringDoorbell();
  receive(pair, 1, memory, 10);
  receive(pair, 2, memory, 10);
  while (pair.b.step()) {
  }
  // Two were acknowledged, though not yet seen: they succeeded.
  pair.qpA->fail();
  pair.qpA->fail();
  pair.a.collect();
  const std::vector<std::uint64_t> expected = {1,   2,   3,   4,   5,   6,   7,   8,   9,   10, 11,
                                               101, 102, 103, 104, 105, 106, 107, 108, 109, 110};
  CHECK(idsOf(pair.a) == expected);
  for (const WorkCompletion& completion : pair.a.completions) {
    CHECK_EQ(completion.status, completion.id <= 2 ? Status::kSuccess : Status::kFlushed);
  }
  CHECK(pair.drive([&] { return !pair.b.events.disconnected.empty(); }, 100));
}

TEST(flushed_receives_leave_the_sends_going) {
  Pair pair;
  REQUIRE(pair.connect());
  const Memory memory = Memory::plain(100'000);
  for (std::uint64_t id = 1; id <= 3; ++id) {
    pair.qpA->postReceive(request(Opcode::kReceive, id, {memory.all()}));
  }
  pair.qpA->flushReceives();
  pair.a.collect();
  CHECK((idsOf(pair.a) == std::vector<std::uint64_t>{1, 2, 3}));
  CHECK_EQ(pair.a.completions[0].status, Status::kFlushed);
  CHECK(pair.qpA->postReceive(request(Opcode::kReceive, 4, {memory.all()})) == PostResult::kPosted);
  pair.a.collect();
  REQUIRE(find(pair.a, 4) != nullptr);
  CHECK_EQ(find(pair.a, 4)->status, Status::kFlushed);
  send(pair, 5, memory, 100'000);
  receive(pair, 5, memory, 100'000);
  pair.qpA->ringDoorbell();
  pair.settle();
  REQUIRE(find(pair.a, 5) != nullptr);
  CHECK_EQ(find(pair.a, 5)->status, Status::kSuccess);
  // What the peer sends now finds no receive, and does no harm.
  pair.qpB->postSend(request(Opcode::kSend, 6, {memory.all()}));
  pair.qpB->ringDoorbell();
  pair.settle();
  CHECK(find(pair.b, 6) == nullptr);
  pair.connA->disconnect();
  pair.settle();
  CHECK_EQ(pair.b.events.endOf(*pair.connB), Fault::kPeerClosed);
}

TEST(a_receive_flushed_in_the_middle_of_its_message_takes_nothing_more) {
  Pair pair;
  REQUIRE(pair.connect());
  const Memory from = Memory::engine(1 << 20);
  from.fill(1);
  {
    const Memory to = Memory::plain(1 << 20);
    receive(pair, 1, to, 1 << 20);
    send(pair, 1, from, 1 << 20);
    pair.qpA->ringDoorbell();
    pair.b.step();
    pair.qpB->flushReceives();
    pair.b.collect();
    REQUIRE(find(pair.b, 1) != nullptr);
    CHECK_EQ(find(pair.b, 1)->status, Status::kFlushed);
  }  // the receive's memory is gone: ASan sees a write to it
  pair.settle();
  CHECK(find(pair.a, 1) == nullptr);
}

TEST(what_was_sent_before_the_end_arrives) {
  for (const bool inOrder : {true, false}) {
    Pair pair;
    REQUIRE(pair.connect());
    const Memory from = Memory::engine(1 << 20);
    const Memory to = Memory::plain(1 << 20);
    from.fill(1);
    for (std::uint64_t id = 1; id <= 6; ++id) receive(pair, id, to, 1 << 20);
    send(pair, 1, from, 50);
    send(pair, 2, from, 5'000);
    send(pair, 3, from, 1 << 20);
    send(pair, 4, from, 0);
    pair.qpA->ringDoorbell();
    if (inOrder) {
      CHECK(pair.drive([&] { return find(pair.a, 4) != nullptr; }));
      pair.connA->disconnect();
    } else {
      pair.connA.reset();  // mapped messages of a sender that failed are lost, the ones before not
    }
    CHECK(pair.drive([&] { return !pair.b.events.disconnected.empty(); }, 1000));
    CHECK_EQ(pair.b.events.endOf(*pair.connB), inOrder ? Fault::kPeerClosed : Fault::kPeerLost);
    CHECK_EQ(pair.b.completions.size(), inOrder ? 4U : 2U);
    for (const WorkCompletion& c : pair.b.completions) CHECK_EQ(c.status, Status::kSuccess);
  }
}

TEST(acknowledged_sends_succeed_although_the_receiver_is_gone) {
  Pair pair;
  REQUIRE(pair.connect());
  const Memory memory = Memory::engine(100'000);
  for (std::uint64_t id = 1; id <= 3; ++id) receive(pair, id, memory, 100'000);
  for (std::uint64_t id = 1; id <= 5; ++id) send(pair, id, memory, id * 20'000);
  pair.qpA->ringDoorbell();
  while (pair.b.step()) {
  }
  pair.connB.reset();
  CHECK(pair.drive([&] { return !pair.a.events.disconnected.empty(); }, 100));
  pair.qpA->fail();
  pair.a.collect();
  CHECK((idsOf(pair.a) == std::vector<std::uint64_t>{1, 2, 3, 4, 5}));
  for (const WorkCompletion& completion : pair.a.completions) {
    CHECK_EQ(completion.status, completion.id <= 3 ? Status::kSuccess : Status::kFlushed);
  }
}

TEST(a_closing_peer_does_not_wait_for_a_stopped_one) {
  Pair pair;
  REQUIRE(pair.connect());
  const Memory memory = Memory::plain(10);
  for (std::uint64_t id = 1; id <= 3; ++id) {
    pair.qpA->postReceive(request(Opcode::kReceive, id, {memory.all()}));
  }
  // B never steps again.
  CHECK(pair.connA->disconnect().kind == ControlResult::Kind::kPending);
  pair.a.step();
  CHECK_EQ(pair.a.events.endOf(*pair.connA), Fault::kClosedLocally);
  pair.qpA->fail();
  pair.connA.reset();
  pair.qpA.reset();
  pair.a.collect();
  CHECK_EQ(pair.a.completions.size(), 3U);
}

TEST(an_end_in_order_stays_one_when_the_queue_pair_is_failed_after_it) {
  Pair pair;
  REQUIRE(pair.connect());
  const Memory memory = Memory::engine(100'000);
  for (std::uint64_t id = 1; id <= 3; ++id) {
    pair.qpB->postSend(request(Opcode::kSend, id, {memory.all()}));  // nobody will receive them
  }
  pair.connA->disconnect();
  pair.qpA->fail();
  pair.connA.reset();
  pair.qpA.reset();
  CHECK(pair.drive([&] { return !pair.b.events.disconnected.empty(); }, 100));
  CHECK_EQ(pair.b.events.endOf(*pair.connB), Fault::kPeerClosed);
}

TEST(ends_at_every_step_of_a_transfer_settle_everything) {
  for (int steps = 0; steps < 40; ++steps) {
    for (int who = 0; who < 4; ++who) {
      Pair pair(8);
      REQUIRE(pair.connect());
      const Memory from = Memory::engine(1 << 20);
      const Memory plain = Memory::plain(200'000);
      const Memory to = Memory::plain(1 << 20);
      for (std::uint64_t id = 1; id <= 6; ++id) {
        receive(pair, id, to, 1 << 20);
        send(pair, id, id % 2 == 0 ? from : plain, 10 + id * 30'000);
      }
      pair.qpA->ringDoorbell();
      for (int i = 0; i < steps; ++i) (i % 3 == 0 ? pair.a : pair.b).step();
      if (who == 0) pair.connA.reset();
      if (who == 1) pair.connB.reset();
      if (who == 2) pair.qpA.reset();
      if (who == 3) pair.qpB->fail();
      pair.settle();
      if (pair.qpA != nullptr) pair.qpA->fail();
      pair.qpB->fail();
      pair.a.collect();
      pair.b.collect();
      CHECK_EQ(pair.b.completions.size(), 6U);
      if (pair.qpA != nullptr) CHECK_EQ(pair.a.completions.size(), 6U);
      if (who != 0) CHECK(pair.a.events.disconnected.size() <= 1);
      // After its own fail() it hears of A's end once A's engine lets its connector go.
      if (who == 3) pair.connA.reset();
      pair.settle();
      if (who != 1) CHECK_EQ(pair.b.events.endsOf(*pair.connB), 1U);
    }
  }
}
