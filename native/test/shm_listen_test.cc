// Ports, addresses, and listeners that have more to do than they can.
#include <sys/resource.h>
#include <unistd.h>

#include "test/check.h"
#include "test/shm_fixture.h"

using namespace shmtest;

namespace {

bool isPending(const ControlResult& result) { return result.kind == ControlResult::Kind::kPending; }

Fault faultOf(const ControlResult& result) { return result.failure.fault; }

/// No further descriptor can be had while this exists.
class NoDescriptors {
 public:
  NoDescriptors() {
    getrlimit(RLIMIT_NOFILE, &before_);
    const int next = dup(0);
    close(next);
    const rlimit none{.rlim_cur = static_cast<rlim_t>(next), .rlim_max = before_.rlim_max};
    setrlimit(RLIMIT_NOFILE, &none);
  }
  ~NoDescriptors() { setrlimit(RLIMIT_NOFILE, &before_); }
  NoDescriptors(const NoDescriptors&) = delete;
  NoDescriptors& operator=(const NoDescriptors&) = delete;

 private:
  rlimit before_{};
};

}  // namespace

TEST(a_port_belongs_to_one_listener_until_it_goes) {
  Host a;
  Host b;
  Failure failure;
  auto first = listenAnywhere(a);
  REQUIRE(first != nullptr);
  const Address at = first->localAddress();
  CHECK(at.port >= 32768);
  CHECK(b.adapter->listen(at, 1, failure) == nullptr);
  CHECK_EQ(failure.fault, Fault::kAddressInUse);
  CHECK(b.adapter->listen({.host = "::1", .port = at.port}, 1, failure) == nullptr);
  CHECK_EQ(failure.fault, Fault::kAddressInUse);
  first.reset();
  failure = {};
  CHECK(b.adapter->listen(at, 1, failure) != nullptr);
  CHECK_EQ(failure.fault, Fault::kNone);
  const auto other = listenAnywhere(a);
  CHECK(other->localAddress().port != listenAnywhere(a)->localAddress().port);
}

TEST(knows_which_addresses_are_local) {
  Host a;
  for (const char* host : {"127.0.0.1", "127.9.8.7", "::1", "0.0.0.0", "::"}) {
    Failure failure;
    CHECK(a.adapter->listen({.host = host, .port = 0}, 1, failure) != nullptr);
  }
  for (const char* host : {"192.0.2.1", "2001:db8::1"}) {
    Failure failure;
    CHECK(a.adapter->listen({.host = host, .port = 0}, 1, failure) == nullptr);
    CHECK_EQ(failure.fault, Fault::kAddressNotLocal);
    CHECK(!failure.detail.empty());
    Endpoint active(a);
    CHECK_EQ(faultOf(active.connect({.host = host, .port = 1})), Fault::kAddressNotLocal);
  }
  Endpoint active(a);
  CHECK_EQ(faultOf(active.connect({.host = "localhost", .port = 1})), Fault::kInvalidArgument);
}

TEST(tells_that_nobody_listens) {
  Host a;
  Endpoint active(a);
  CHECK_EQ(faultOf(active.connect({.host = "127.0.0.1", .port = 9})), Fault::kUnreachable);
  CHECK_EQ(faultOf(active.connect({.host = "127.0.0.1", .port = 9})), Fault::kInvalidState);
  Endpoint again(a);
  CHECK_EQ(faultOf(again.connect({.host = "127.0.0.1", .port = 0})), Fault::kInvalidArgument);
}

TEST(waits_for_room_in_a_full_backlog) {
  Host a;
  Host b;
  const auto listener = listenAnywhere(b);
  std::vector<std::unique_ptr<Endpoint>> actives;
  constexpr std::size_t kMany = 300;  // the kernel queues 129
  for (std::size_t i = 0; i < kMany; ++i) {
    actives.push_back(std::make_unique<Endpoint>(a));
    REQUIRE(isPending(actives.back()->connect(listener->localAddress())));
  }
  CHECK(a.adapter->deadlineNanoseconds() != 0);
  CHECK(drive(a, b, [&] {
    a.now += 1'000'000;
    return b.events.requests.size() == kMany;
  }));
  CHECK_EQ(a.adapter->deadlineNanoseconds(), 0U);
  for (auto& request : b.events.requests) request->reject({});
  CHECK(drive(a, b, [&] { return a.events.disconnected.size() == kMany; }));
}

TEST(rejects_what_the_engine_does_not_admit) {
  Host a;
  Host b;
  const auto listener = listenAnywhere(b);
  b.events.admits = false;
  Endpoint active(a);
  REQUIRE(isPending(active.connect(listener->localAddress())));
  CHECK(drive(a, b, [&] { return active.end() != Fault::kNone; }));
  CHECK_EQ(active.end(), Fault::kBacklogFull);
  CHECK(b.events.requests.empty());
}

TEST(a_request_to_a_wildcard_comes_from_this_host) {
  for (const char* host : {"0.0.0.0", "::"}) {
    Host a;
    Host b;
    Failure failure;
    const auto listener = b.adapter->listen({.host = host, .port = 0}, 1, failure);
    REQUIRE(listener != nullptr);
    CHECK(listener->localAddress().host == host);
    Endpoint active(a);
    const Address to{.host = "127.0.0.1", .port = listener->localAddress().port};
    REQUIRE(isPending(active.connect(to)));
    REQUIRE(drive(a, b, [&] { return !b.events.requests.empty(); }));
    const Connector& request = *b.events.requests.front();
    const std::string expected = host[0] == ':' ? "::1" : "127.0.0.1";
    CHECK(request.localAddress().host == expected);
    CHECK(request.peer().address.host == expected);
    CHECK_EQ(request.localAddress().port, to.port);
  }
}

TEST(a_listener_without_descriptors_pauses_and_goes_on) {
  Host a;
  Host b;
  const auto listener = listenAnywhere(b);
  Endpoint active(a);
  REQUIRE(isPending(active.connect(listener->localAddress())));
  {
    const NoDescriptors none;
    b.step();
    b.step();
    CHECK(b.events.requests.empty());
    CHECK(b.adapter->deadlineNanoseconds() > b.now);
    CHECK(b.adapter->arm());  // neither awake nor woken all the time
    CHECK(!b.waitSet.wait(0));
    b.adapter->disarm();
    Endpoint other(a);
    CHECK_EQ(faultOf(other.connect(listener->localAddress())), Fault::kOutOfResources);
  }
  b.now = b.adapter->deadlineNanoseconds();
  CHECK(drive(a, b, [&] { return !b.events.requests.empty(); }));
  CHECK_EQ(b.adapter->deadlineNanoseconds(), 0U);
}
