// Messages between two connected queue pairs: sizes, segments, order.
#include <algorithm>

#include "test/check.h"
#include "test/shm_fixture.h"

using namespace shmtest;

namespace {

bool same(std::span<const std::byte> left, std::span<const std::byte> right) {
  return std::equal(left.begin(), left.end(), right.begin(), right.end());
}

/// Sends `from` in one message and checks that `to` got it.
void exchange(Pair& pair, const Memory& from, const Memory& to, std::uint64_t id) {
  to.clear();
  CHECK(pair.qpB->postReceive(request(Opcode::kReceive, id, {to.all()})) == PostResult::kPosted);
  CHECK(pair.qpA->postSend(request(Opcode::kSend, id, {from.all()})) == PostResult::kPosted);
  pair.qpA->ringDoorbell();
  REQUIRE(pair.drive([&] { return find(pair.a, id) != nullptr && find(pair.b, id) != nullptr; }));
  CHECK_EQ(find(pair.a, id)->status, Status::kSuccess);
  CHECK_EQ(find(pair.b, id)->status, Status::kSuccess);
  CHECK_EQ(find(pair.b, id)->byteLength, from.bytes().size());
  CHECK(same(from.bytes(), to.bytes().first(from.bytes().size())));
  CHECK(to.guardsIntact());
}

}  // namespace

TEST(sends_one_message) {
  Pair pair;
  REQUIRE(pair.connect());
  const Memory from = Memory::engine(100);
  const Memory to = Memory::plain(100);
  from.fill(1);
  exchange(pair, from, to, 7);
}

TEST(sends_every_size_around_the_thresholds) {
  Pair pair;
  REQUIRE(pair.connect());
  std::uint64_t id = 1;
  for (const std::size_t middle : {0UL, 96UL, 4096UL, 16384UL, 65536UL, 262144UL, 300000UL}) {
    for (const std::size_t size : {middle - 1, middle, middle + 1}) {
      if (size > 400000) continue;
      const Memory engine = Memory::engine(size);
      const Memory plain = Memory::plain(size);
      const Memory to = Memory::plain(size);
      engine.fill(id);
      plain.fill(id + 1);
      exchange(pair, engine, to, id++);
      exchange(pair, plain, to, id++);
      pair.a.adapter->deregister(engine.region());
    }
  }
}

TEST(gathers_and_scatters_up_to_four_segments) {
  Pair pair;
  REQUIRE(pair.connect());
  const Memory from = Memory::engine(90'000);
  const Memory to = Memory::plain(90'000);
  from.fill(3);
  std::uint64_t id = 1;
  for (const std::size_t unit : {1UL, 11UL, 5'000UL, 20'000UL}) {
    for (std::size_t out = 1; out <= kMaxSegments; ++out) {
      for (std::size_t in = 1; in <= kMaxSegments; ++in) {
        std::vector<Segment> gather;
        std::vector<Segment> scatter;
        std::vector<std::byte> expected;
        for (std::size_t i = 0; i < out; ++i) {
          gather.push_back(from.segment(i * unit, unit - i % 2));
          const auto part = from.bytes().subspan(i * unit, unit - i % 2);
          expected.insert(expected.end(), part.begin(), part.end());
        }
        const std::size_t share = expected.size() / in;
        for (std::size_t i = 0; i < in; ++i) {
          const bool last = i + 1 == in;
          scatter.push_back(to.segment(i * share, last ? expected.size() - i * share : share));
        }
        to.clear();
        pair.qpB->postReceive(request(Opcode::kReceive, id, scatter));
        pair.qpA->postSend(request(Opcode::kSend, id, gather));
        pair.qpA->ringDoorbell();
        REQUIRE(pair.drive([&] { return find(pair.b, id) != nullptr; }));
        CHECK_EQ(find(pair.b, id)->byteLength, expected.size());
        CHECK(same(expected, to.bytes().first(expected.size())));
        ++id;
      }
    }
  }
  CHECK(to.guardsIntact());
}

TEST(sends_nothing_in_none_or_several_segments) {
  Pair pair;
  REQUIRE(pair.connect());
  const Memory memory = Memory::plain(10);
  const std::vector<std::vector<Segment>> shapes = {
      {}, {memory.segment(5, 0)}, {memory.segment(0, 0), memory.segment(10, 0)}};
  std::uint64_t id = 1;
  for (const auto& out : shapes) {
    for (const auto& in : shapes) {
      pair.qpB->postReceive(request(Opcode::kReceive, id, in));
      pair.qpA->postSend(request(Opcode::kSend, id, out));
      pair.qpA->ringDoorbell();
      REQUIRE(
          pair.drive([&] { return find(pair.a, id) != nullptr && find(pair.b, id) != nullptr; }));
      CHECK_EQ(find(pair.b, id)->status, Status::kSuccess);
      CHECK_EQ(find(pair.b, id)->byteLength, 0U);
      ++id;
    }
  }
}

TEST(carries_the_immediate_and_the_context) {
  Pair pair;
  REQUIRE(pair.connect());
  const Memory memory = Memory::plain(10);
  pair.qpB->postReceive(request(Opcode::kReceive, 1, {memory.all()}));
  pair.qpB->postReceive(request(Opcode::kReceive, 2, {memory.all()}));
  WorkRequest send = request(Opcode::kSend, 1, {memory.all()});
  send.flags = kSignaled | kImmediate;
  send.immediate = 0xdeadbeef;
  pair.qpA->postSend(send);
  pair.qpA->postSend(request(Opcode::kSend, 2, {memory.all()}));
  pair.qpA->ringDoorbell();
  REQUIRE(pair.drive([&] { return pair.b.completions.size() == 2; }));
  CHECK_EQ(pair.b.completions[0].flags, kSignaled | kImmediate);
  CHECK_EQ(pair.b.completions[0].immediate, 0xdeadbeefU);
  CHECK(pair.b.completions[0].context == &pair);
  CHECK(pair.b.completions[0].opcode == Opcode::kReceive);
  CHECK_EQ(pair.b.completions[1].flags, kSignaled);
}

TEST(a_message_without_a_receive_waits_in_order) {
  Pair pair;
  REQUIRE(pair.connect());
  const Memory from = Memory::plain(50);
  const Memory to = Memory::plain(50);
  for (std::uint64_t id = 1; id <= 5; ++id) {
    pair.qpA->postSend(request(Opcode::kSend, id, {from.segment(0, id)}));
  }
  pair.qpA->ringDoorbell();
  pair.settle();
  CHECK(pair.a.completions.empty());
  for (std::uint64_t id = 1; id <= 5; ++id) {
    pair.qpB->postReceive(request(Opcode::kReceive, id, {to.all()}));
    pair.qpB->ringDoorbell();
    pair.settle();
    CHECK_EQ(pair.a.completions.size(), id);
    CHECK_EQ(pair.b.completions.back().byteLength, id);
  }
}

TEST(a_flush_completes_after_what_was_posted_before_it) {
  Pair pair;
  REQUIRE(pair.connect());
  const Memory memory = Memory::plain(40'000);
  pair.qpA->postSend(request(Opcode::kFlush, 1, {}));
  pair.qpA->ringDoorbell();
  pair.settle();
  CHECK(find(pair.a, 1) != nullptr);
  pair.qpA->postSend(request(Opcode::kSend, 2, {memory.all()}));
  pair.qpA->postSend(request(Opcode::kFlush, 3, {}));
  pair.qpA->postSend(request(Opcode::kFetchAdd, 4, {}));
  pair.qpA->postSend(request(Opcode::kSend, 5, {memory.all()}));
  pair.qpA->ringDoorbell();
  pair.settle();
  CHECK_EQ(pair.a.completions.size(), 1U);
  pair.qpB->postReceive(request(Opcode::kReceive, 2, {memory.all()}));
  pair.settle();
  REQUIRE(pair.a.completions.size() == 4);
  CHECK(pair.a.completions[2].opcode == Opcode::kFlush);
  CHECK_EQ(pair.a.completions[2].status, Status::kSuccess);
  CHECK_EQ(pair.a.completions[3].status, Status::kLocalQueuePairOperation);
}

TEST(work_posted_before_the_connection_waits_for_it) {
  Host a;
  Host b;
  const auto listener = listenAnywhere(b);
  const Memory from = Memory::plain(30);
  const Memory to = Memory::plain(30);
  from.fill(5);
  Endpoint active(a);
  active.pair->postSend(request(Opcode::kSend, 1, {from.all()}));
  active.pair->ringDoorbell();
  active.connect(listener->localAddress());
  for (int i = 0; i < 10; ++i) b.step();
  REQUIRE(!b.events.requests.empty());
  Endpoint passive(b, std::move(b.events.requests.front()));
  b.events.requests.clear();
  passive.pair->postReceive(request(Opcode::kReceive, 1, {to.all()}));
  passive.accept();
  for (int i = 0; i < 20; ++i) {
    a.step();
    b.step();
  }
  CHECK(find(a, 1) != nullptr);
  CHECK(find(b, 1) != nullptr);
  CHECK(same(from.bytes(), to.bytes()));
}

TEST(a_queue_takes_no_more_than_its_depth) {
  Pair pair(2);
  REQUIRE(pair.connect());
  const Memory memory = Memory::plain(1);
  CHECK(pair.qpA->postSend(request(Opcode::kSend, 1, {memory.all()})) == PostResult::kPosted);
  CHECK(pair.qpA->postSend(request(Opcode::kSend, 2, {memory.all()})) == PostResult::kPosted);
  CHECK(pair.qpA->postSend(request(Opcode::kSend, 3, {memory.all()})) == PostResult::kAgain);
  CHECK(pair.qpB->postReceive(request(Opcode::kReceive, 1, {memory.all()})) == PostResult::kPosted);
  CHECK(pair.qpB->postReceive(request(Opcode::kReceive, 2, {memory.all()})) == PostResult::kPosted);
  CHECK(pair.qpB->postReceive(request(Opcode::kReceive, 3, {memory.all()})) == PostResult::kAgain);
  pair.qpA->ringDoorbell();
  pair.settle();
  CHECK(pair.qpA->postSend(request(Opcode::kSend, 3, {memory.all()})) == PostResult::kPosted);
  CHECK_EQ(pair.a.completions.size(), 2U);
}

TEST(a_queue_may_be_deeper_than_the_ring) {
  constexpr std::uint32_t kDepth = 5000;
  Pair pair(kDepth);
  REQUIRE(pair.connect());
  const Memory from = Memory::plain(kDepth);
  const Memory to = Memory::plain(kDepth);
  from.fill(9);
  for (std::uint64_t i = 0; i < kDepth; ++i) {
    CHECK(pair.qpA->postSend(request(Opcode::kSend, i, {from.segment(i, 1)})) ==
          PostResult::kPosted);
    CHECK(pair.qpB->postReceive(request(Opcode::kReceive, i, {to.segment(i, 1)})) ==
          PostResult::kPosted);
  }
  pair.qpA->ringDoorbell();
  CHECK(pair.drive([&] { return pair.a.completions.size() == kDepth; }));
  CHECK(same(from.bytes(), to.bytes()));
}

TEST(refuses_depths_out_of_range) {
  Host host;
  for (const std::uint32_t depth : {0U, host.adapter->limits().maxDepth + 1}) {
    Failure failure;
    CHECK(host.adapter->createQueuePair(*host.queue, {.sendDepth = depth}, failure) == nullptr);
    CHECK_EQ(failure.fault, Fault::kInvalidArgument);
  }
}

TEST(one_long_copy_does_not_hold_up_a_round) {
  Pair pair;
  REQUIRE(pair.connect());
  constexpr std::size_t kSize = 4 << 20;
  const Memory from = Memory::engine(kSize);
  const Memory to = Memory::engine(kSize);
  from.fill(1);
  pair.qpB->postReceive(request(Opcode::kReceive, 1, {to.all()}));
  pair.qpA->postSend(request(Opcode::kSend, 1, {from.all()}));
  pair.qpA->ringDoorbell();
  int rounds = 0;
  while (find(pair.b, 1) == nullptr && rounds < 1000) {
    pair.b.step();
    ++rounds;
  }
  CHECK_EQ(rounds, 16);  // 256 KiB each
  CHECK(same(from.bytes(), to.bytes()));
}
