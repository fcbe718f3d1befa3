// Listening, connecting, accepting, rejecting, and ending in order.
#include <unistd.h>

#include "test/check.h"
#include "test/shm_fixture.h"

using namespace shmtest;

namespace {

constexpr std::uint32_t kPrivateLimit = 1024;

bool isPending(const ControlResult& result) { return result.kind == ControlResult::Kind::kPending; }

Fault faultOf(const ControlResult& result) { return result.failure.fault; }

std::unique_ptr<Connector> takeRequest(Host& a, Host& b) {
  if (!drive(a, b, [&] { return !b.events.requests.empty(); })) return nullptr;
  std::unique_ptr<Connector> request = std::move(b.events.requests.front());
  b.events.requests.erase(b.events.requests.begin());
  return request;
}

}  // namespace

TEST(carries_private_data_both_ways) {
  Host a;
  Host b;
  const auto listener = listenAnywhere(b);
  for (const std::uint32_t size : {0U, 1U, 52U, kPrivateLimit}) {
    const std::vector<std::byte> there(size, std::byte{0x11});
    const std::vector<std::byte> back(size, std::byte{0x22});
    Endpoint active(a);
    REQUIRE(isPending(active.connect(listener->localAddress(), there)));
    auto request = takeRequest(a, b);
    REQUIRE(request != nullptr);
    CHECK(textOf(request->privateData()) == textOf(there));
    CHECK_EQ(request->peer().processId, getpid());
    CHECK_EQ(request->peer().userId, geteuid());
    CHECK_EQ(request->localAddress().port, listener->localAddress().port);
    Endpoint passive(b, std::move(request));
    REQUIRE(isPending(passive.accept(back)));
    CHECK(drive(a, b, [&] { return active.established() && passive.established(); }));
    CHECK(textOf(active.connector->privateData()) == textOf(back));
    CHECK_EQ(active.connector->peer().processId, getpid());
    CHECK_EQ(active.connector->peer().address.port, listener->localAddress().port);
  }
}

TEST(refuses_private_data_beyond_the_limit) {
  Host a;
  Host b;
  const auto listener = listenAnywhere(b);
  const std::vector<std::byte> much(kPrivateLimit + 1);
  Endpoint refused(a);
  CHECK_EQ(faultOf(refused.connect(listener->localAddress(), much)), Fault::kInvalidArgument);
  Endpoint active(a);
  REQUIRE(isPending(active.connect(listener->localAddress())));
  Endpoint passive(b, takeRequest(a, b));
  CHECK_EQ(faultOf(passive.accept(much)), Fault::kInvalidArgument);
  CHECK_EQ(faultOf(passive.connector->reject(much)), Fault::kInvalidArgument);
  CHECK(isPending(passive.accept()));
  CHECK(drive(a, b, [&] { return active.established(); }));
}

TEST(rejects_with_private_data) {
  Host a;
  Host b;
  const auto listener = listenAnywhere(b);
  for (const std::uint32_t size : {0U, 148U, kPrivateLimit}) {
    const std::vector<std::byte> why(size, std::byte{0x33});
    Endpoint active(a);
    REQUIRE(isPending(active.connect(listener->localAddress())));
    auto request = takeRequest(a, b);
    REQUIRE(request != nullptr);
    CHECK(request->reject(why).kind == ControlResult::Kind::kDone);
    request.reset();
    CHECK(drive(a, b, [&] { return active.end() != Fault::kNone; }));
    CHECK_EQ(active.end(), Fault::kRejected);
    CHECK(textOf(active.connector->privateData()) == textOf(why));
  }
}

TEST(a_withdrawn_request_ends_once) {
  Host a;
  Host b;
  const auto listener = listenAnywhere(b);
  std::unique_ptr<Connector> request;
  {
    Endpoint active(a);
    REQUIRE(isPending(active.connect(listener->localAddress())));
    request = takeRequest(a, b);
    REQUIRE(request != nullptr);
  }
  CHECK(drive(a, b, [&] { return b.events.endOf(*request) != Fault::kNone; }));
  CHECK_EQ(b.events.endOf(*request), Fault::kPeerClosed);
  drive(
      a, b, [] { return false; }, 20);
  CHECK_EQ(b.events.endsOf(*request), 1U);
  Endpoint passive(b, std::move(request));
  CHECK_EQ(faultOf(passive.accept()), Fault::kInvalidState);
}

TEST(a_request_withdrawn_before_the_accept_is_seen_ends_too) {
  Host a;
  Host b;
  const auto listener = listenAnywhere(b);
  auto active = std::make_unique<Endpoint>(a);
  REQUIRE(isPending(active->connect(listener->localAddress())));
  Endpoint passive(b, takeRequest(a, b));
  active->connector.reset();
  CHECK(isPending(passive.accept()));
  CHECK(drive(a, b, [&] { return passive.end() != Fault::kNone; }));
  CHECK_EQ(passive.end(), Fault::kPeerClosed);
  CHECK(!passive.established());
}

TEST(an_unanswered_request_outlives_its_listener) {
  Host a;
  Host b;
  auto listener = listenAnywhere(b);
  Endpoint active(a);
  Endpoint late(a);
  REQUIRE(isPending(active.connect(listener->localAddress())));
  Endpoint passive(b, takeRequest(a, b));
  REQUIRE(isPending(late.connect(listener->localAddress())));
  listener.reset();
  CHECK(isPending(passive.accept()));
  CHECK(drive(a, b, [&] { return active.established() && passive.established(); }));
  CHECK(drive(a, b, [&] { return late.end() != Fault::kNone; }));
  CHECK_EQ(late.end(), Fault::kPeerLost);
}

TEST(connects_an_adapter_with_itself) {
  Host a;
  const auto listener = listenAnywhere(a);
  Endpoint active(a);
  REQUIRE(isPending(active.connect(listener->localAddress())));
  Endpoint passive(a, takeRequest(a, a));
  REQUIRE(isPending(passive.accept()));
  CHECK(drive(a, a, [&] { return active.established() && passive.established(); }));
}

TEST(both_sides_connect_at_once) {
  Host a;
  Host b;
  const auto listenerA = listenAnywhere(a);
  const auto listenerB = listenAnywhere(b);
  Endpoint fromA(a);
  Endpoint fromB(b);
  REQUIRE(isPending(fromA.connect(listenerB->localAddress())));
  REQUIRE(isPending(fromB.connect(listenerA->localAddress())));
  Endpoint atB(b, takeRequest(a, b));
  Endpoint atA(a, takeRequest(b, a));
  REQUIRE(isPending(atA.accept()));
  REQUIRE(isPending(atB.accept()));
  CHECK(drive(a, b, [&] {
    return fromA.established() && fromB.established() && atA.established() && atB.established();
  }));
}

TEST(disconnects_in_order_from_either_side) {
  for (const bool fromActive : {true, false}) {
    Pair pair;
    REQUIRE(pair.connect());
    Connector& closer = fromActive ? *pair.connA : *pair.connB;
    Connector& other = fromActive ? *pair.connB : *pair.connA;
    Host& closerHost = fromActive ? pair.a : pair.b;
    Host& otherHost = fromActive ? pair.b : pair.a;
    CHECK(isPending(closer.disconnect()));
    CHECK_EQ(faultOf(closer.disconnect()), Fault::kInvalidState);
    CHECK(closerHost.step());  // without any help from the peer
    CHECK_EQ(closerHost.events.endOf(closer), Fault::kClosedLocally);
    pair.settle();
    CHECK_EQ(otherHost.events.endOf(other), Fault::kPeerClosed);
    CHECK_EQ(closerHost.events.disconnected.size() + otherHost.events.disconnected.size(), 2U);
  }
}

TEST(survives_an_end_at_every_step_of_the_handshake) {
  for (int steps = 0; steps < 12; ++steps) {
    for (const bool activeGoes : {true, false}) {
      Host a;
      Host b;
      const auto listener = listenAnywhere(b);
      auto active = std::make_unique<Endpoint>(a);
      std::unique_ptr<Endpoint> passive;
      REQUIRE(isPending(active->connect(listener->localAddress())));
      for (int i = 0; i < steps; ++i) {
        (i % 2 == 0 ? b : a).step();
        if (passive == nullptr && !b.events.requests.empty()) {
          passive = std::make_unique<Endpoint>(b, std::move(b.events.requests.front()));
          b.events.requests.clear();
          CHECK(isPending(passive->accept()));
        }
      }
      if (activeGoes) {
        active.reset();
        drive(
            a, b, [] { return false; }, 20);
        for (auto& request : b.events.requests) {
          CHECK_EQ(b.events.endOf(*request), Fault::kPeerClosed);
        }
        if (passive != nullptr) CHECK(passive->end() != Fault::kNone);
      } else if (passive != nullptr) {
        passive.reset();
        CHECK(drive(a, b, [&] { return active->end() != Fault::kNone; }));
      }
    }
  }
}

TEST(leaves_no_descriptor_and_no_mapping_behind) {
  const std::size_t descriptors = openDescriptors();
  const std::size_t mappings = mappingsOf("queuepair");
  const Memory from = Memory::engine(100'000);
  for (std::uint64_t round = 0; round < 100; ++round) {
    Pair pair;
    REQUIRE(pair.connect());
    const Memory to = Memory::engine(100'000);
    pair.qpB->postReceive(request(Opcode::kReceive, 1, {to.all()}));
    pair.qpA->postSend(request(Opcode::kSend, 1, {from.all()}));
    pair.qpA->ringDoorbell();
    CHECK(pair.drive([&] { return find(pair.b, 1) != nullptr; }));
    if (round % 2 == 0) pair.connA->disconnect();
    pair.settle();
    if (round % 3 == 0) pair.qpA.reset();
  }
  CHECK_EQ(openDescriptors(), descriptors + 1);  // `from`
  CHECK_EQ(mappingsOf("queuepair"), mappings + 1);
}
