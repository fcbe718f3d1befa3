// Words and records in shared memory that no honest peer writes: each ends its own connection.
#include <algorithm>
#include <functional>
#include <string>

#include "core/providers/shm/connection_memory.h"
#include "core/providers/shm/record_fault.h"
#include "test/check.h"
#include "test/shm_fixture.h"
#include "test/shm_raw_peer.h"

using namespace shmtest;
using shm::EndpointWords;
using shm::WireRecord;

TEST(a_damaged_record_ends_the_connection_of_its_receiver) {
  using Field = shm::DamagedField;
  struct Case {
    std::size_t length;
    bool engine;
    std::vector<Field> harmless;  // fields that this kind of record does not have
  };
  const std::vector<Field> noSegments = {Field::kExportIndex, Field::kExportGeneration,
                                         Field::kSegmentOffset, Field::kSegmentLength};
  const std::vector<Case> cases = {{.length = 50, .engine = true, .harmless = {}},
                                   {.length = 5'000, .engine = true, .harmless = noSegments},
                                   {.length = 50'000, .engine = true, .harmless = {}},
                                   {.length = 120'000, .engine = false, .harmless = noSegments}};
  for (const Case& one : cases) {
    for (std::uint64_t field = 0; field < static_cast<std::uint64_t>(Field::kCount); ++field) {
      Pair pair;
      REQUIRE(pair.connect());
      const Memory from = one.engine ? Memory::engine(one.length) : Memory::plain(one.length);
      const Memory to = Memory::plain(one.length);
      pair.a.faults.arm(FaultPoint::kPeerRecordCorrupted, 0, 1, field);
      pair.qpB->postReceive(request(Opcode::kReceive, 1, {to.all()}));
      pair.qpA->postSend(request(Opcode::kSend, 1, {from.all()}));
      pair.qpA->ringDoorbell();
      pair.settle();
      const Fault end = pair.b.events.endOf(*pair.connB);
      const auto is = [&](Field which) { return field == static_cast<std::uint64_t>(which); };
      const bool harmless =
          std::any_of(one.harmless.begin(), one.harmless.end(), is) ||
          (is(Field::kStagedStart) && (one.length < 100 || (one.engine && one.length > 16384))) ||
          (one.length < 100 && field > static_cast<std::uint64_t>(Field::kStagedStart));
      CHECK_EQ(end, harmless ? Fault::kNone : Fault::kProtocol);
      CHECK(to.guardsIntact());
      CHECK_EQ(find(pair.b, 1) != nullptr, harmless);
    }
  }
}

namespace {

const shm::Geometry kGeometry = shm::Geometry::forDepth(16);

/// A connection whose peer is made of bare words.
struct Victim {
  Victim() : listener(listenAnywhere(host)), raw(listener->localAddress().port) {
    raw.sendRequest();
    while (host.events.requests.empty()) host.step();
    endpoint = std::make_unique<Endpoint>(host, std::move(host.events.requests.front()));
    host.events.requests.clear();
    endpoint->accept();
    shm::Message ready;
    ready.kind = shm::MessageKind::kReady;
    raw.send(ready);
    while (!endpoint->established()) host.step();
    words = raw.memory.half(0).words;
  }
  Fault end() {
    for (int i = 0; i < 8; ++i) host.step();
    return endpoint->end();
  }
  /// Exported to it as index 0, generation 1.
  void importMemory(std::uint64_t bytes) {
    const os::FileDescriptor memory = os::createMemory("queuepair-good", bytes);
    os::sealMemory(memory.get(), true);
    shm::Message message;
    message.kind = shm::MessageKind::kExport;
    message.exportGeneration = 1;
    message.exportBytes = bytes;
    raw.send(message, memory.get());
  }
  void postSend(const Memory& memory) {
    endpoint->pair->postSend(request(Opcode::kSend, 1, {memory.all()}));
    endpoint->pair->ringDoorbell();
    host.step();
  }
  void postReceive(const Memory& memory) {
    endpoint->pair->postReceive(request(Opcode::kReceive, 2, {memory.all()}));
  }
  void publish(const WireRecord& record, std::uint64_t staged = 0) {
    raw.memory.half(0).records[0] = record;
    words->stagedTail.store(staged);
    words->recordTail.store(1);
  }

  Host host;
  std::unique_ptr<Listener> listener;
  RawPeer raw;
  std::unique_ptr<Endpoint> endpoint;
  EndpointWords* words = nullptr;
};

WireRecord mapped(std::initializer_list<shm::WireSegment> segments, std::uint64_t byteLength) {
  WireRecord record{};
  record.sequence = 1;
  record.kind = shm::RecordKind::kMapped;
  record.byteLength = byteLength;
  for (const shm::WireSegment& segment : segments) {
    record.segments[record.segmentCount++] = segment;
  }
  return record;
}

}  // namespace

TEST(refuses_words_that_make_no_sense) {
  const Memory small = Memory::plain(10);
  const Memory large = Memory::plain(100'000);
  const std::uint64_t records = kGeometry.recordCapacity;
  const std::uint64_t staging = kGeometry.stagingBytes;
  const std::vector<std::function<void(Victim&)>> attacks = {
      [&](Victim& v) { v.words->recordTail.store(records + 1); },
      [&](Victim& v) { v.words->recordTail.store(~0ULL); },
      [&](Victim& v) { v.words->stagedTail.store(staging + 1); },
      [&](Victim& v) { v.words->recordHead.store(1); },
      [&](Victim& v) { v.words->stagedHead.store(1); },
      [&](Victim& v) { v.words->error.store(9); },
      [&](Victim& v) {
        v.postSend(small);
        v.words->recordHead.store(2);
      },
      [&](Victim& v) {
        v.postSend(small);
        v.words->error.store(10);
      },
      [&](Victim& v) {
        v.postSend(large);  // half staged
        v.words->recordHead.store(1);
      },
      [&](Victim& v) {
        v.postSend(large);
        v.words->stagedHead.store(staging + 1);
      },
  };
  for (std::size_t i = 0; i < attacks.size(); ++i) {
    Victim victim;
    attacks[i](victim);
    if (victim.end() != Fault::kProtocol) {
      check::fail(__FILE__, __LINE__, "attack " + std::to_string(i));
    }
  }
  Victim honest;
  honest.postSend(large);
  honest.words->error.store(9);
  CHECK_EQ(honest.end(), Fault::kNone);
  REQUIRE(find(honest.host, 1) != nullptr);
  CHECK_EQ(find(honest.host, 1)->status, Status::kRemoteInvalidRequest);
}

TEST(refuses_records_that_reach_beyond_what_was_exported) {
  constexpr std::uint64_t kBytes = 8192;
  constexpr std::uint64_t kTop = 1ULL << 63U;
  const std::vector<WireRecord> records = {
      mapped({{0, 1, 0, kBytes + 1}}, kBytes + 1),
      mapped({{0, 1, 1, kBytes}}, kBytes),
      mapped({{0, 1, kBytes, 1}}, 1),
      mapped({{0, 1, ~0ULL, 2}}, 2),
      mapped({{0, 1, kTop, 10}}, 10),
      mapped({{0, 1, 0, kTop}, {0, 1, 0, kTop}}, 0),
      mapped({{0, 1, 0, 10}}, 11),
      mapped({{0, 1, 0, 11}}, 10),
      mapped({{0, 2, 0, 10}}, 10),
      mapped({{1, 1, 0, 10}}, 10),
      mapped({{~0U, 1, 0, 10}}, 10),
  };
  const Memory to = Memory::plain(2 * kBytes);
  for (std::size_t i = 0; i <= records.size(); ++i) {
    Victim victim;
    victim.importMemory(kBytes);
    victim.postReceive(to);
    const bool honest = i == records.size();
    victim.publish(honest ? mapped({{0, 1, 10, 20}, {0, 1, 0, 0}, {0, 1, 8000, 192}}, 212)
                          : records[i]);
    if (victim.end() != (honest ? Fault::kNone : Fault::kProtocol)) {
      check::fail(__FILE__, __LINE__, "record " + std::to_string(i));
    }
    CHECK_EQ(find(victim.host, 2) != nullptr, honest);
    CHECK(to.guardsIntact());
  }
}

TEST(a_peer_that_says_it_failed_and_stays_ends_the_connection) {
  const Memory to = Memory::plain(8192);
  Victim victim;
  victim.importMemory(8192);
  victim.postReceive(to);
  victim.words->state.store(shm::EndpointState::kFailed);
  victim.publish(mapped({{0, 1, 0, 8192}}, 8192));
  CHECK_EQ(victim.end(), Fault::kPeerLost);
  CHECK(find(victim.host, 2) == nullptr);
}

TEST(a_peer_that_closed_its_socket_cannot_go_on_by_memory_alone) {
  const Memory to = Memory::plain(10);
  Victim victim;
  WireRecord record{};
  record.kind = shm::RecordKind::kInline;
  std::uint64_t sent = 0;
  const auto publish = [&] {
    record.sequence = ++sent;
    victim.raw.memory.half(0).records[(sent - 1) % kGeometry.recordCapacity] = record;
    victim.words->recordTail.store(sent);
    victim.postReceive(to);
    victim.host.step();
  };
  publish();
  CHECK_EQ(victim.host.completions.size(), 1U);
  victim.raw.socket.reset();
  while (sent < 100 && victim.endpoint->end() == Fault::kNone) publish();
  CHECK_EQ(victim.endpoint->end(), Fault::kPeerLost);
  CHECK(victim.host.completions.size() < 5);
}
