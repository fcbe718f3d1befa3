// A peer that changes records and words while they are being read. It has a mapping of its own, so
// that what it does is no race within this process.
#include <atomic>
#include <thread>
#include <type_traits>

#include "core/providers/shm/connection_memory.h"
#include "test/check.h"
#include "test/shm_fixture.h"
#include "test/shm_raw_peer.h"

using namespace shmtest;
using shm::RecordKind;
using shm::WireRecord;

namespace {

constexpr std::uint64_t kExported = 16'384;
const std::uint64_t kRecords = shm::Geometry::forDepth(16).recordCapacity;

/// Valid records, whose fields flicker between what is right and what is not.
class Flicker {
 public:
  Flicker(std::uint64_t seed, const shm::Half& own, const shm::Half& victim)
      : random_(seed), own_(own), victim_(victim) {}

  void run(const std::atomic<bool>& stop) {
    while (!stop.load()) {
      const std::uint64_t head = victim_.words->recordHead.load();
      if (tail_ == head) write(tail_++);
      own_.words->recordTail.store(tail_);
      for (int i = 0; i < 20; ++i) flicker(own_.records[head % kRecords]);
    }
  }

 private:
  void write(std::uint64_t index) {
    WireRecord record{};
    record.sequence = index + 1;
    record.kind = random_.below(2) == 0 ? RecordKind::kInline : RecordKind::kMapped;
    record.byteLength = 64;
    if (record.kind == RecordKind::kMapped) {
      record.byteLength = kExported;
      record.segmentCount = 2;
      record.segments[0] = {0, 1, 0, kExported / 2};
      record.segments[1] = {0, 1, kExported / 2, kExported / 2};
    }
    own_.records[index % kRecords] = record;
  }

  // Each wrong value is there for as long as the right one, some nanoseconds.
  void flicker(WireRecord& record) {
    switch (random_.below(5)) {
      case 0:
        return pulse(record.byteLength, 1ULL << 39U);
      case 1:
        return pulse(record.segments[0].offset, ~0ULL - 8);
      case 2:
        return pulse(record.segments[1].length, 1ULL << 62U);
      case 3:
        return pulse(record.segmentCount, 255);
      default:
        return pulse(record.kind, static_cast<RecordKind>(77));
    }
  }

  template <typename T>
  void pulse(T& field, std::type_identity_t<T> wrong) {
    volatile T& word = field;
    const T right = word;
    for (std::uint64_t i = 0, count = random_.below(20); i < count; ++i) {
      word = wrong;
      word = wrong;
      word = right;
      word = right;
    }
  }

  Random random_;
  shm::Half own_;
  shm::Half victim_;
  std::uint64_t tail_ = 0;
};

struct Victim {
  Victim() : listener(listenAnywhere(host)), raw(listener->localAddress().port) {
    raw.sendRequest();
    while (host.events.requests.empty()) host.step();
    endpoint = std::make_unique<Endpoint>(host, std::move(host.events.requests.front()));
    host.events.requests.clear();
    endpoint->accept();
    shm::Message message;
    message.kind = shm::MessageKind::kReady;
    raw.send(message);
    const os::FileDescriptor memory = os::createMemory("queuepair-good", kExported);
    os::sealMemory(memory.get(), true);
    message.kind = shm::MessageKind::kExport;
    message.exportGeneration = 1;
    message.exportBytes = kExported;
    raw.send(message, memory.get());
    while (!endpoint->established()) host.step();
  }

  Host host;
  std::unique_ptr<Listener> listener;
  RawPeer raw;
  std::unique_ptr<Endpoint> endpoint;
};

}  // namespace

TEST(fields_that_change_while_they_are_read_do_no_harm) {
  std::uint64_t delivered = 0;
  std::uint64_t refused = 0;
  const Memory to = Memory::plain(kExported);
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    Victim victim;
    std::atomic<bool> stop{false};
    Flicker flicker(seed, victim.raw.memory.half(0), victim.raw.memory.half(1));
    std::thread thread([&] { flicker.run(stop); });
    for (int i = 0; i < 3'000 && victim.endpoint->end() == Fault::kNone; ++i) {
      victim.endpoint->pair->postReceive(request(Opcode::kReceive, 0, {to.all()}));
      victim.host.step();
      for (const WorkCompletion& completion : victim.host.completions) {
        const bool whole = completion.status == Status::kSuccess &&
                           (completion.byteLength == 64 || completion.byteLength == kExported);
        if (completion.status != Status::kLocalLength) CHECK(whole);
        ++delivered;
      }
      victim.host.completions.clear();
    }
    stop.store(true);
    thread.join();
    const Fault end = victim.endpoint->end();
    CHECK(end == Fault::kNone || end == Fault::kProtocol);
    if (end == Fault::kProtocol) ++refused;
  }
  CHECK(to.guardsIntact());
  CHECK(delivered > 100);
  CHECK(refused > 0);
}
