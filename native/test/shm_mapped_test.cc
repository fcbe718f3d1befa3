// Messages straight from engine memory: exports, their end, their limits, and reads that tear.
#include <algorithm>

#include "test/check.h"
#include "test/shm_fixture.h"

using namespace shmtest;

namespace {

constexpr std::size_t kSize = 100'000;
const char* const kName = "queuepair-test";  // of the fixture's engine memory

bool same(const Memory& left, const Memory& right) {
  return std::equal(left.bytes().begin(), left.bytes().end(), right.bytes().begin());
}

/// One message from `from` into fresh memory, checked. Ids count up.
void exchange(Pair& pair, const Memory& from, std::uint64_t id) {
  const Memory to = Memory::plain(from.bytes().size());
  pair.qpB->postReceive(request(Opcode::kReceive, id, {to.all()}));
  pair.qpA->postSend(request(Opcode::kSend, id, {from.all()}));
  pair.qpA->ringDoorbell();
  REQUIRE(pair.drive([&] { return find(pair.a, id) != nullptr && find(pair.b, id) != nullptr; }));
  CHECK_EQ(find(pair.b, id)->status, Status::kSuccess);
  CHECK(same(from, to));
}

/// Fills the socket from A to B with doorbells that B does not read.
void fillSocket(Pair& pair, const Memory& memory) {
  for (std::uint64_t i = 0; i < 2000; ++i) {
    CHECK(pair.b.adapter->arm());
    pair.qpB->postReceive(request(Opcode::kReceive, 1'000 + i, {memory.all()}));
    pair.qpA->postSend(request(Opcode::kSend, 1'000 + i, {memory.segment(0, 1)}));
    pair.qpA->ringDoorbell();
    pair.b.adapter->disarm();
    for (int round = 0; round < 3; ++round) {
      pair.b.adapter->progress(1);  // without a look at the sockets
      pair.b.collect();
      pair.a.step();
    }
  }
}

}  // namespace

TEST(maps_a_region_once_and_unmaps_it_with_its_end) {
  Pair pair;
  REQUIRE(pair.connect());
  Memory from = Memory::engine(kSize);
  CHECK_EQ(mappingsOf(kName), 1U);
  exchange(pair, from, 1);
  CHECK_EQ(mappingsOf(kName), 2U);
  exchange(pair, from, 2);
  CHECK_EQ(mappingsOf(kName), 2U);
  CHECK(pair.a.adapter->deregister(from.region()).kind == ControlResult::Kind::kDone);
  pair.settle();
  CHECK_EQ(mappingsOf(kName), 1U);
}

TEST(maps_for_a_long_message_and_uses_it_for_shorter_ones) {
  Pair pair;
  REQUIRE(pair.connect());
  constexpr std::size_t kShort = 5'000;
  constexpr std::size_t kSizes[] = {kShort, 16'384, 16'385, kShort, 4'096};
  const Memory from = Memory::engine(kSize);
  from.fill(1);
  std::uint64_t id = 0;
  for (const std::size_t size : kSizes) {
    const Memory to = Memory::plain(size);
    ++id;
    pair.qpB->postReceive(request(Opcode::kReceive, id, {to.all()}));
    pair.qpA->postSend(request(Opcode::kSend, id, {from.segment(kSize - size, size)}));
    pair.qpA->ringDoorbell();
    REQUIRE(pair.drive([&] { return find(pair.b, id) != nullptr; }));
    CHECK(std::equal(to.bytes().begin(), to.bytes().end(), from.bytes().end() - long(size)));
    CHECK_EQ(mappingsOf(kName), size > 16'384 || id > 3 ? 2U : 1U);
  }
}

TEST(a_region_that_follows_another_is_not_taken_for_it) {
  Pair pair;
  REQUIRE(pair.connect());
  for (std::uint64_t id = 1; id <= 200; ++id) {
    const Memory from = Memory::engine(kSize);  // often at the same address
    from.fill(id);
    exchange(pair, from, id);
    pair.a.adapter->deregister(from.region());
    if (id % 3 == 0) pair.settle();
  }
  CHECK_EQ(pair.a.events.disconnected.size() + pair.b.events.disconnected.size(), 0U);
}

TEST(sends_one_region_over_many_connections) {
  Pair first;
  Pair second;
  REQUIRE(first.connect());
  REQUIRE(second.connect());
  const Memory from = Memory::engine(kSize);
  from.fill(1);
  exchange(first, from, 1);
  exchange(second, from, 1);
  CHECK_EQ(mappingsOf(kName), 3U);
  first.a.adapter->deregister(from.region());
  first.settle();
  CHECK_EQ(mappingsOf(kName), 2U);
  exchange(second, from, 2);
  second.a.adapter->deregister(from.region());
  second.settle();
  CHECK_EQ(mappingsOf(kName), 1U);
}

TEST(stages_what_the_peer_will_not_map) {
  Pair pair;
  REQUIRE(pair.connect());
  std::vector<Memory> regions;
  constexpr std::size_t kRegions = 80;
  constexpr std::size_t kLimit = 64;
  for (std::uint64_t id = 1; id <= kRegions; ++id) {
    regions.push_back(Memory::engine(20'000));
    regions.back().fill(id);
    exchange(pair, regions.back(), id);
  }
  CHECK_EQ(mappingsOf(kName), kRegions + kLimit);
  for (const Memory& memory : regions) pair.a.adapter->deregister(memory.region());
  pair.settle();
  CHECK_EQ(mappingsOf(kName), kRegions);
  exchange(pair, regions.back(), 1000);
  CHECK_EQ(mappingsOf(kName), kRegions + 1);
  pair.a.adapter->deregister(regions.back().region());
}

TEST(stages_a_message_of_mixed_memory) {
  Pair pair;
  REQUIRE(pair.connect());
  const Memory engine = Memory::engine(kSize);
  const Memory plain = Memory::plain(kSize);
  const Memory to = Memory::plain(2 * kSize);
  engine.fill(1);
  plain.fill(2);
  pair.qpB->postReceive(request(Opcode::kReceive, 1, {to.all()}));
  pair.qpA->postSend(request(Opcode::kSend, 1, {engine.all(), plain.all()}));
  pair.qpA->ringDoorbell();
  REQUIRE(pair.drive([&] { return find(pair.b, 1) != nullptr; }));
  CHECK(std::equal(engine.bytes().begin(), engine.bytes().end(), to.bytes().begin()));
  CHECK(std::equal(plain.bytes().begin(), plain.bytes().end(), to.bytes().begin() + kSize));
  CHECK_EQ(mappingsOf(kName), 1U);
}

TEST(a_full_socket_makes_an_export_wait_and_loses_no_withdrawal) {
  Pair pair;
  REQUIRE(pair.connect());
  const Memory small = Memory::plain(1);
  Memory exported = Memory::engine(kSize);
  exchange(pair, exported, 1);
  CHECK_EQ(mappingsOf(kName), 2U);
  fillSocket(pair, small);

  // An export does not get through: the message goes through the staging ring.
  const Memory other = Memory::engine(kSize);
  const Memory to = Memory::plain(kSize);
  other.fill(3);
  pair.qpB->postReceive(request(Opcode::kReceive, 2, {to.all()}));
  pair.qpA->postSend(request(Opcode::kSend, 2, {other.all()}));
  pair.qpA->ringDoorbell();
  for (int i = 0; i < 20 && find(pair.b, 2) == nullptr; ++i) {
    pair.b.adapter->progress(1);
    pair.b.collect();
    pair.a.step();
  }
  CHECK(find(pair.b, 2) != nullptr);
  CHECK(same(other, to));
  CHECK_EQ(mappingsOf(kName), 3U);  // `exported` twice, `other` once

  // Nor does a withdrawal; it waits, without keeping its sender awake.
  pair.a.adapter->deregister(exported.region());
  while (pair.a.step()) {
  }
  CHECK(pair.a.adapter->arm());
  pair.a.adapter->disarm();
  CHECK_EQ(mappingsOf(kName), 3U);
  CHECK(!pair.a.waitSet.wait(0));
  while (pair.b.step()) {
  }
  CHECK(pair.a.waitSet.wait(0));  // there is room again
  pair.settle();
  CHECK_EQ(mappingsOf(kName), 2U);
  exchange(pair, other, 3);
  CHECK_EQ(mappingsOf(kName), 3U);
}

TEST(a_message_whose_sender_failed_during_the_copy_is_not_delivered) {
  for (const bool connectorGoes : {false, true}) {
    Pair pair;
    REQUIRE(pair.connect());
    const Memory from = Memory::engine(1 << 20);
    const Memory to = Memory::engine(1 << 20);
    pair.qpB->postReceive(request(Opcode::kReceive, 1, {to.all()}));
    pair.qpA->postSend(request(Opcode::kSend, 1, {from.all()}));
    pair.qpA->ringDoorbell();
    pair.b.step();
    pair.b.step();  // two of four slices
    if (connectorGoes) pair.connA.reset();
    pair.qpA->fail();
    pair.a.collect();
    REQUIRE(find(pair.a, 1) != nullptr);
    CHECK_EQ(find(pair.a, 1)->status, Status::kFlushed);
    from.fill(1);  // the sender's program has its memory back
    CHECK(pair.drive([&] { return !pair.b.events.disconnected.empty(); }, 100));
    CHECK(find(pair.b, 1) == nullptr);
    CHECK_EQ(pair.b.events.endOf(*pair.connB), Fault::kPeerLost);
    pair.qpB->fail();
    pair.b.collect();
    REQUIRE(find(pair.b, 1) != nullptr);
    CHECK_EQ(find(pair.b, 1)->status, Status::kFlushed);
  }
}
