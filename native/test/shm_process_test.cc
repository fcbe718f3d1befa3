// Two processes, one of which is killed in the middle of its work.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>

#include "test/check.h"
#include "test/shm_fixture.h"

using namespace shmtest;

namespace {

constexpr std::size_t kBig = 300'000;

struct Child {
  pid_t process = -1;
  Address address{.host = "127.0.0.1", .port = 0};
};

/// Sends or receives until it is killed; the memory of a send is changed after its completion.
[[noreturn]] void serve(bool sends, std::size_t length, int portPipe) {
  Host host;
  const auto listener = listenAnywhere(host);
  const std::uint16_t port = listener->localAddress().port;
  if (write(portPipe, &port, sizeof(port)) != sizeof(port)) _exit(1);
  while (host.events.requests.empty()) host.step();
  Endpoint endpoint(host, std::move(host.events.requests.front()), 8);
  endpoint.accept();
  const Memory memory = Memory::engine(length);
  std::uint64_t value = 0;
  while (endpoint.end() == Fault::kNone) {
    if (sends) std::fill(memory.bytes().begin(), memory.bytes().end(), std::byte(++value));
    const std::size_t before = host.completions.size();
    if (sends) {
      endpoint.pair->postSend(request(Opcode::kSend, 0, {memory.all()}));
    } else {
      endpoint.pair->postReceive(request(Opcode::kReceive, 0, {memory.all()}));
    }
    endpoint.pair->ringDoorbell();
    while (host.completions.size() == before && endpoint.end() == Fault::kNone) host.step();
  }
  _exit(0);
}

Child start(bool sends, std::size_t length) {
  std::array<int, 2> ends{};
  Child child;
  if (pipe(ends.data()) != 0) return child;
  child.process = fork();
  if (child.process == 0) serve(sends, length, ends[1]);
  if (read(ends[0], &child.address.port, sizeof(child.address.port)) < 0) child.address.port = 0;
  close(ends[0]);
  close(ends[1]);
  return child;
}

void stop(const Child& child) {
  kill(child.process, SIGKILL);
  waitpid(child.process, nullptr, 0);
}

bool uniform(const Memory& memory, std::byte& value) {
  value = memory.bytes().front();
  const std::byte first = value;
  return std::all_of(memory.bytes().begin(), memory.bytes().end(),
                     [first](std::byte byte) { return byte == first; });
}

}  // namespace

TEST(a_killed_sender_delivers_whole_messages_only) {
  for (const std::size_t length : {50UL, 10'000UL, kBig}) {
    for (const std::uint64_t killAfter : {0ULL, 1ULL, 7ULL, 40ULL}) {
      const Child child = start(true, length);
      Host host;
      Endpoint endpoint(host, nullptr, 8);
      CHECK(endpoint.connect(child.address).kind == ControlResult::Kind::kPending);
      const Memory memory = Memory::plain(length);
      std::uint64_t received = 0;
      const auto post = [&] {
        endpoint.pair->postReceive(request(Opcode::kReceive, 0, {memory.all()}));
        endpoint.pair->ringDoorbell();
      };
      post();
      while (endpoint.end() == Fault::kNone) {
        host.step();
        if (!host.completions.empty()) {
          std::byte value{};
          CHECK(uniform(memory, value));
          CHECK_EQ(value, std::byte(++received));
          host.completions.clear();
          post();
        }
        if (received == killAfter && endpoint.established()) stop(child);
      }
      CHECK_EQ(endpoint.end(), Fault::kPeerLost);
      endpoint.pair->fail();
      host.collect();
      CHECK_EQ(host.completions.size(), 1U);
      CHECK(endpoint.connector->peer().processId == child.process);
    }
  }
}

TEST(a_killed_receiver_ends_its_sender_with_all_sends_accounted_for) {
  for (const std::size_t length : {50UL, 10'000UL, kBig}) {
    const Child child = start(false, length);
    Host host;
    Endpoint endpoint(host, nullptr, 8);
    CHECK(endpoint.connect(child.address).kind == ControlResult::Kind::kPending);
    const Memory memory = Memory::engine(length);
    std::uint64_t posted = 0;
    while (endpoint.end() == Fault::kNone) {
      host.step();
      while (posted - host.completions.size() < 8) {
        endpoint.pair->postSend(request(Opcode::kSend, posted++, {memory.all()}));
      }
      endpoint.pair->ringDoorbell();
      if (host.completions.size() >= 50) stop(child);
    }
    CHECK_EQ(endpoint.end(), Fault::kPeerLost);
    endpoint.pair->fail();
    host.collect();
    CHECK_EQ(host.completions.size(), posted);
    for (std::uint64_t i = 0; i < posted; ++i) CHECK_EQ(host.completions[i].id, i);
    CHECK_EQ(host.completions.back().status, Status::kFlushed);
  }
}

TEST(a_stopped_peer_holds_up_nobody) {
  const Child child = start(false, kBig);
  Host host;
  Endpoint endpoint(host, nullptr, 8);
  endpoint.connect(child.address);
  while (!endpoint.established()) host.step();
  kill(child.process, SIGSTOP);
  const Memory memory = Memory::engine(kBig);
  for (std::uint64_t i = 0; i < 8; ++i) {
    endpoint.pair->postSend(request(Opcode::kSend, i, {memory.all()}));
    endpoint.pair->ringDoorbell();
  }
  for (int i = 0; i < 100; ++i) host.step();
  CHECK_EQ(endpoint.end(), Fault::kNone);
  CHECK(endpoint.connector->disconnect().kind == ControlResult::Kind::kPending);
  host.step();
  CHECK_EQ(endpoint.end(), Fault::kClosedLocally);
  endpoint.pair->fail();
  host.collect();
  CHECK_EQ(host.completions.size(), 8U);
  stop(child);
}
