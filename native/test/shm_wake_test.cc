// Who may sleep when, and who is woken by what; step by step on one thread.
#include "test/check.h"
#include "test/shm_fixture.h"

using namespace shmtest;

namespace {

/// What the poller would find: a ready socket.
bool woken(Host& host) { return host.waitSet.wait(0); }

void send(Pair& pair, std::uint64_t id, const Memory& memory) {
  pair.qpA->postSend(request(Opcode::kSend, id, {memory.all()}));
  pair.qpA->ringDoorbell();
}

void receive(Pair& pair, std::uint64_t id, const Memory& memory) {
  pair.qpB->postReceive(request(Opcode::kReceive, id, {memory.all()}));
  pair.qpB->ringDoorbell();
}

}  // namespace

TEST(news_since_the_last_look_keep_a_side_awake) {
  Pair pair;
  REQUIRE(pair.connect());
  pair.settle();
  const Memory memory = Memory::plain(100);
  receive(pair, 1, memory);
  pair.settle();
  send(pair, 1, memory);  // B is awake: nobody rings
  CHECK(!woken(pair.b));
  CHECK(!pair.b.adapter->arm());
  pair.b.step();
  CHECK(!pair.a.adapter->arm());  // the acknowledgement
  pair.settle();
  CHECK(pair.a.adapter->arm());
  CHECK(pair.b.adapter->arm());
}

TEST(posted_work_keeps_a_side_awake) {
  Pair pair;
  REQUIRE(pair.connect());
  pair.settle();
  const Memory memory = Memory::plain(100);
  send(pair, 1, memory);
  pair.settle();
  CHECK(pair.b.adapter->arm());  // a message waits, but there is no receive for it
  pair.b.adapter->disarm();
  pair.qpB->postReceive(request(Opcode::kReceive, 1, {memory.all()}));
  CHECK(!pair.b.adapter->arm());
  pair.settle();
  pair.qpA->postSend(request(Opcode::kSend, 2, {memory.all()}));
  CHECK(!pair.a.adapter->arm());
  pair.settle();
  CHECK(pair.a.adapter->arm());
  pair.a.adapter->disarm();
  pair.connA->disconnect();
  CHECK(!pair.a.adapter->arm());
}

TEST(a_copy_that_is_not_done_keeps_a_side_awake) {
  Pair pair;
  REQUIRE(pair.connect());
  const Memory from = Memory::engine(1 << 20);
  const Memory to = Memory::engine(1 << 20);
  receive(pair, 1, to);
  send(pair, 1, from);
  for (int i = 0; i < 4; ++i) {
    CHECK(!pair.b.adapter->arm());
    pair.b.step();
  }
  while (pair.b.step()) {
  }
  CHECK(pair.b.adapter->arm());
}

TEST(a_sleeper_is_rung_once_each_time_it_sleeps) {
  Pair pair;
  REQUIRE(pair.connect());
  pair.settle();
  const Memory memory = Memory::plain(100);
  for (std::uint64_t id = 1; id <= 3; ++id) {
    CHECK(pair.b.adapter->arm());
    CHECK(!woken(pair.b));
    for (int i = 0; i < 3; ++i) send(pair, id * 10, memory);
    CHECK(woken(pair.b));
    pair.b.adapter->disarm();
    pair.b.step();  // reads the one byte
    CHECK(!woken(pair.b));
    send(pair, id * 10, memory);  // it is awake now
    CHECK(!woken(pair.b));
    pair.settle();
  }
}

TEST(a_side_that_steps_while_armed_is_rung_again) {
  Pair pair;
  REQUIRE(pair.connect());
  pair.settle();
  const Memory memory = Memory::plain(100);
  CHECK(pair.b.adapter->arm());
  for (std::uint64_t id = 1; id <= 3; ++id) {
    CHECK(!woken(pair.b));
    send(pair, id, memory);
    CHECK(woken(pair.b));
    pair.b.step();  // as the owner does while the poller is parked
  }
  receive(pair, 9, memory);
  while (pair.b.step()) {
  }
  CHECK(pair.b.adapter->arm());
  send(pair, 9, memory);  // rung; the byte stays unread
  CHECK(!pair.b.adapter->arm());
}

TEST(a_sleeping_sender_is_woken_by_the_acknowledgement) {
  Pair pair;
  REQUIRE(pair.connect());
  for (const std::size_t size : {10UL, 100'000UL}) {
    const Memory from = Memory::plain(size);
    const Memory to = Memory::plain(size);
    send(pair, size, from);
    while (pair.a.step()) {
    }
    CHECK(pair.a.adapter->arm());
    CHECK(!woken(pair.a));
    receive(pair, size, to);
    pair.b.step();
    CHECK(woken(pair.a));
    pair.a.adapter->disarm();
    pair.settle();
    CHECK(find(pair.a, size) != nullptr);
  }
}

TEST(a_refusal_wakes_its_sender) {
  Pair pair;
  REQUIRE(pair.connect());
  const Memory from = Memory::plain(100);
  const Memory to = Memory::plain(10);
  send(pair, 1, from);
  while (pair.a.step()) {
  }
  CHECK(pair.a.adapter->arm());
  receive(pair, 1, to);
  pair.b.step();
  CHECK(woken(pair.a));
  pair.a.step();
  REQUIRE(find(pair.a, 1) != nullptr);
  CHECK_EQ(find(pair.a, 1)->status, Status::kRemoteInvalidRequest);
}

TEST(quiet_connections_rest_and_come_back_by_doorbell) {
  Host a;
  Host b;
  const auto listener = listenAnywhere(b);
  std::vector<std::unique_ptr<Endpoint>> actives;
  std::vector<std::unique_ptr<Endpoint>> passives;
  constexpr std::size_t kMany = 70;  // 64 are always polled
  for (std::size_t i = 0; i < kMany; ++i) {
    actives.push_back(std::make_unique<Endpoint>(a));
    actives.back()->connect(listener->localAddress());
    while (b.events.requests.empty()) b.step();
    passives.push_back(std::make_unique<Endpoint>(b, std::move(b.events.requests.front())));
    b.events.requests.clear();
    passives.back()->accept();
    while (!passives.back()->established()) {
      a.step();
      b.step();
    }
  }
  const Memory memory = Memory::plain(10);
  std::uint64_t id = 0;
  for (const bool parks : {false, true}) {
    // They come to rest by being quiet for long, or when their engines park.
    for (int i = 0; !parks && i < 10'600; ++i) {
      a.adapter->progress(1);
      b.adapter->progress(1);
    }
    for (Host* host : {&a, &b}) {
      while (host->step()) {
      }
      CHECK(!parks || host->adapter->arm());
      if (parks) host->adapter->disarm();
    }
    for (std::size_t i = 0; i < kMany; ++i) {
      ++id;
      passives[i]->pair->postReceive(request(Opcode::kReceive, id, {memory.all()}));
      actives[i]->pair->postSend(request(Opcode::kSend, id, {memory.all()}));
      actives[i]->pair->ringDoorbell();
      for (int round = 0; round < 4; ++round) {
        b.step();
        a.step();
      }
      CHECK(find(a, id) != nullptr);
      CHECK(find(b, id) != nullptr);
    }
  }
}
