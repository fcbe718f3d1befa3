// Peers that speak nonsense on the socket: they end their own connection and nothing else.
#include <fcntl.h>

#include <algorithm>

#include "test/check.h"
#include "test/shm_fixture.h"
#include "test/shm_raw_peer.h"

using namespace shmtest;
using shm::Message;
using shm::MessageKind;

namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;

void steps(Host& host, int count = 8) {
  for (int i = 0; i < count; ++i) host.step();
}

std::vector<std::byte> rawBytes(const Message& message, std::size_t length) {
  std::vector<std::byte> bytes(length);
  if (length > 0) std::memcpy(bytes.data(), &message, std::min(length, sizeof(message)));
  return bytes;
}

/// Requests that differ from a valid one in one thing.
std::vector<Message> spoiltRequests() {
  std::vector<Message> all;
  const auto add = [&](auto spoil) {
    Message message = RawPeer::requestMessage();
    spoil(message);
    all.push_back(message);
  };
  add([](Message& m) { m.magic ^= 1U; });
  add([](Message& m) { m.version += 1; });
  for (int kind = 0; kind < 10; ++kind) {
    if (kind != 1) add([&](Message& m) { m.kind = static_cast<MessageKind>(kind); });
  }
  add([](Message& m) { m.privateBytes = 1; });
  add([](Message& m) { m.privateBytes = ~0U; });
  for (const std::uint32_t records : {0U, 1U, 8U, 17U, 2048U, 1U << 31U, ~0U}) {
    add([&](Message& m) { m.recordCapacity = records; });
  }
  for (const std::uint32_t bytes : {0U, 1U, 2048U, 65537U, 1U << 21U, 1U << 31U, ~0U}) {
    add([&](Message& m) { m.stagingBytes = bytes; });
  }
  return all;
}

/// An established connection to a raw peer that made the request.
struct Victim {
  Victim() : listener(listenAnywhere(host)), raw(listener->localAddress().port) {
    raw.sendRequest();
    steps(host);
    if (host.events.requests.empty()) return;
    endpoint = std::make_unique<Endpoint>(host, std::move(host.events.requests.front()));
    host.events.requests.clear();
    endpoint->accept();
    Message ready;
    ready.kind = MessageKind::kReady;
    raw.send(ready);
    steps(host);
    CHECK_EQ(raw.receiveKind(), 2);
    CHECK(endpoint->established());
  }
  Fault end() {
    steps(host);
    return endpoint->end();
  }
  Message exportMessage(std::uint32_t index, std::uint64_t bytes) const {
    Message message;
    message.kind = MessageKind::kExport;
    message.exportIndex = index;
    message.exportGeneration = 1;
    message.exportBytes = bytes;
    return message;
  }

  Host host;
  std::unique_ptr<Listener> listener;
  RawPeer raw;
  std::unique_ptr<Endpoint> endpoint;
};

os::FileDescriptor goodMemory(std::uint64_t bytes) {
  os::FileDescriptor fd = os::createMemory("queuepair-good", bytes);
  os::sealMemory(fd.get(), true);
  return fd;
}

}  // namespace

TEST(a_listener_drops_what_is_no_request) {
  Host host;
  const auto listener = listenAnywhere(host);
  const std::uint16_t port = listener->localAddress().port;
  const os::FileDescriptor memory = RawPeer().memory.create(shm::Geometry::forDepth(16));
  const std::size_t before = openDescriptors();
  for (const Message& message : spoiltRequests()) {
    const RawPeer raw(port);
    CHECK(raw.connected);
    raw.send(message, memory.get());
    Message exact = message;
    raw.sendBytes(rawBytes(exact, sizeof(exact)), memory.get());
    steps(host);
    // `send` fills in the true length of the private data; only the raw bytes have a wrong one.
    if (host.events.requests.empty()) CHECK(raw.atEnd());
    for (auto& request : host.events.requests) {
      CHECK_EQ(host.events.endOf(*request), Fault::kProtocol);
    }
    host.events.requests.clear();
  }
  for (const std::size_t length : {0UL, 1UL, 7UL, sizeof(Message) - 1, 1081UL, 5000UL}) {
    const RawPeer raw(port);
    raw.sendBytes(rawBytes(RawPeer::requestMessage(), length), memory.get());
    steps(host);
    CHECK(host.events.requests.empty());
    CHECK(raw.atEnd());
  }
  CHECK_EQ(openDescriptors(), before);
}

TEST(a_listener_maps_only_memory_that_cannot_change_its_size) {
  Host host;
  const auto listener = listenAnywhere(host);
  const std::uint16_t port = listener->localAddress().port;
  BadDescriptors bad(shm::Geometry::forDepth(16).byteLength());
  os::FileDescriptor readOnly = goodMemory(shm::Geometry::forDepth(16).byteLength());
  bad.cases.push_back({"read-only", readOnly.get()});
  const std::size_t before = openDescriptors();
  for (const BadDescriptors::Case& one : bad.cases) {
    const RawPeer raw(port);
    raw.send(RawPeer::requestMessage(), one.fd);
    steps(host);
    if (!host.events.requests.empty()) check::fail(__FILE__, __LINE__, one.what);
    host.events.requests.clear();
    CHECK(raw.atEnd());
  }
  {
    const RawPeer raw(port);
    raw.sendTwo(RawPeer::requestMessage(), bad.cases[0].fd, bad.cases[1].fd);
    steps(host);
    CHECK(host.events.requests.empty());
    CHECK(raw.atEnd());
  }
  CHECK_EQ(openDescriptors(), before);
  RawPeer honest(port);
  honest.sendRequest();
  steps(host);
  CHECK_EQ(host.events.requests.size(), 1U);
}

TEST(half_a_handshake_ends_after_five_seconds) {
  Host host;
  const auto listener = listenAnywhere(host);
  const RawPeer raw(listener->localAddress().port);
  steps(host);
  CHECK_EQ(host.adapter->deadlineNanoseconds(), 5 * kSecond + 1);
  CHECK(host.adapter->arm());
  host.adapter->disarm();
  host.now = 5 * kSecond;
  steps(host);
  CHECK(!raw.atEnd());
  host.now = 5 * kSecond + 1;
  steps(host);
  CHECK(raw.atEnd());
  CHECK_EQ(host.adapter->deadlineNanoseconds(), 0U);
}

TEST(a_flood_of_half_handshakes_does_not_keep_a_request_out) {
  Host host;
  const auto listener = listenAnywhere(host);
  std::vector<std::unique_ptr<RawPeer>> flood;
  for (int i = 0; i < 300; ++i) {
    flood.push_back(std::make_unique<RawPeer>(listener->localAddress().port));
    if (i % 50 == 0) steps(host);
  }
  steps(host, 40);
  RawPeer honest(listener->localAddress().port);
  CHECK(honest.connected);
  honest.sendRequest();
  steps(host, 40);
  CHECK_EQ(host.events.requests.size(), 1U);
  const auto open = std::count_if(flood.begin(), flood.end(),
                                  [](const auto& raw) { return raw->connected && !raw->atEnd(); });
  CHECK(open <= 64);
}

TEST(a_connector_survives_every_answer) {
  const std::uint16_t port = 20'001;
  const os::FileDescriptor listener = os::listenOnSocket(shm::socketName(port), 16);
  REQUIRE(listener.valid());
  std::vector<Message> answers = spoiltRequests();
  for (int kind = 0; kind < 10; ++kind) {
    Message message;
    message.kind = static_cast<MessageKind>(kind);
    answers.push_back(message);
    message.privateBytes = 5;
    answers.push_back(message);
  }
  for (const Message& answer : answers) {
    Host host;
    Endpoint active(host);
    CHECK(active.connect({.host = "127.0.0.1", .port = port}).kind ==
          ControlResult::Kind::kPending);
    RawPeer raw;
    raw.socket = os::acceptSocket(listener.get());
    raw.sendBytes(rawBytes(answer, sizeof(answer)));
    raw.sendBytes(rawBytes(answer, sizeof(answer)));
    steps(host);
    const bool accepted = answer.kind == MessageKind::kAccept && active.established();
    const bool rejected = answer.kind == MessageKind::kReject && active.end() == Fault::kRejected;
    if (!rejected) CHECK_EQ(active.end(), Fault::kProtocol);
    CHECK(accepted || rejected || !active.established());
    CHECK_EQ(host.events.endsOf(*active.connector), 1U);
  }
  Host host;
  Endpoint active(host);
  active.connect({.host = "127.0.0.1", .port = port});
  os::acceptSocket(listener.get()).reset();
  steps(host);
  CHECK_EQ(active.end(), Fault::kPeerLost);
}

TEST(a_connection_survives_every_message_out_of_turn) {
  for (int kind = 0; kind < 10; ++kind) {
    Victim victim;
    Message message;
    message.kind = static_cast<MessageKind>(kind);
    victim.raw.send(message);
    CHECK_EQ(victim.end(), Fault::kProtocol);
    CHECK_EQ(victim.host.events.disconnected.size(), 1U);
  }
}

TEST(a_connection_refuses_exports_that_cannot_be_mapped_safely) {
  constexpr std::uint64_t kBytes = 8192;
  const BadDescriptors bad(kBytes);
  for (const BadDescriptors::Case& one : bad.cases) {
    Victim victim;
    const std::size_t before = openDescriptors();
    victim.raw.send(victim.exportMessage(0, kBytes), one.fd);
    CHECK_EQ(victim.end(), Fault::kProtocol);
    CHECK_EQ(openDescriptors(), before);
  }
  const os::FileDescriptor good = goodMemory(kBytes);
  for (const std::uint64_t length : {0ULL, kBytes + 1ULL, 1ULL << 40U, ~0ULL}) {
    Victim victim;
    victim.raw.send(victim.exportMessage(0, length), good.get());
    CHECK_EQ(victim.end(), Fault::kProtocol);
  }
  for (const std::uint32_t index : {64U, 65U, ~0U}) {
    Victim victim;
    victim.raw.send(victim.exportMessage(index, kBytes), good.get());
    CHECK_EQ(victim.end(), Fault::kProtocol);
  }
  Victim victim;
  const std::size_t mapped = mappingsOf("queuepair-good");
  for (std::uint32_t index = 0; index < 64; ++index) {
    victim.raw.send(victim.exportMessage(index, kBytes), good.get());
  }
  CHECK_EQ(victim.end(), Fault::kNone);
  CHECK_EQ(mappingsOf("queuepair-good"), mapped + 64);
  victim.raw.sendTwo(victim.exportMessage(3, kBytes), good.get(), good.get());
  CHECK_EQ(victim.end(), Fault::kProtocol);
  victim.endpoint.reset();
  CHECK_EQ(mappingsOf("queuepair-good"), mapped);
}

TEST(a_connection_refuses_an_export_in_a_place_that_is_taken) {
  Victim victim;
  const os::FileDescriptor good = goodMemory(8192);
  victim.raw.send(victim.exportMessage(0, 8192), good.get());
  CHECK_EQ(victim.end(), Fault::kNone);
  Message withdrawal = victim.exportMessage(0, 0);
  withdrawal.kind = MessageKind::kUnexport;
  victim.raw.send(withdrawal);
  CHECK_EQ(victim.end(), Fault::kNone);
  victim.raw.send(victim.exportMessage(0, 8192), good.get());
  victim.raw.send(victim.exportMessage(0, 8192), good.get());
  CHECK_EQ(victim.end(), Fault::kProtocol);
}

TEST(doorbells_of_any_value_and_number_are_harmless) {
  Victim victim;
  for (int i = 0; i < 3000; ++i) {
    const std::vector<std::byte> bell(1, static_cast<std::byte>(i));
    victim.raw.sendBytes(bell);
  }
  CHECK_EQ(victim.end(), Fault::kNone);
  CHECK(victim.host.adapter->arm());
}
