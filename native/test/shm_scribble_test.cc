// Shared memory that the peer scribbles over at random: every word is read once and checked, so the
// worst that happens is the end of this connection.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include "core/providers/shm/connection_memory.h"
#include "test/check.h"
#include "test/shm_fixture.h"

using namespace shmtest;
using shm::EndpointWords;
using shm::Geometry;
using shm::WireRecord;

namespace {

constexpr std::size_t kMemory = 150'000;
constexpr std::uint32_t kDepth = 16;
const Geometry kGeometry = Geometry::forDepth(kDepth);

/// Where this process has the connection's memory mapped.
std::byte* connectionMemory() {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    if (line.find("memfd:queuepair-connection") == std::string::npos) continue;
    return reinterpret_cast<std::byte*>(std::strtoull(line.c_str(), nullptr, 16));
  }
  return nullptr;
}

class Scribbler {
 public:
  Scribbler(Random& random, std::byte* memory) : random_(random), memory_(memory) {}

  void scribble() {
    switch (random_.below(4)) {
      case 0:
        return scribbleWord();
      case 1:
        return scribbleRecordField();
      case 2:
        return scribbleBytes(memory_, kGeometry.byteLength());
      default:
        return scribbleBytes(reinterpret_cast<std::byte*>(currentRecord()), sizeof(WireRecord));
    }
  }

 private:
  EndpointWords* words(std::uint64_t side) {
    return reinterpret_cast<EndpointWords*>(memory_ + side * kGeometry.sideBytes());
  }
  WireRecord* currentRecord() {
    EndpointWords* at = words(random_.below(2));
    auto* records = reinterpret_cast<WireRecord*>(at + 1);
    const std::uint64_t index = at->recordTail.load() - random_.below(4);
    return records + index % kGeometry.recordCapacity;
  }
  std::uint64_t value(std::uint64_t old) {
    switch (random_.below(5)) {
      case 0:
        return random_.next();
      case 1:
        return old + random_.below(5) - 2;
      case 2:
        return old + (1ULL << random_.below(64));
      case 3:
        return 0;
      default:
        return random_.below(100'000);
    }
  }
  void scribbleWord() {
    EndpointWords& at = *words(random_.below(2));
    std::atomic<std::uint64_t>* const longs[] = {&at.recordTail, &at.stagedTail, &at.recordHead,
                                                 &at.stagedHead};
    std::atomic<std::uint32_t>* const shorts[] = {&at.published, &at.error, &at.armed};
    const std::uint64_t which = random_.below(8);
    if (which < 4) {
      longs[which]->store(value(longs[which]->load()));
    } else if (which < 7) {
      auto& word = *shorts[which - 4];
      word.store(static_cast<std::uint32_t>(value(word.load())));
    } else {
      at.state.store(static_cast<shm::EndpointState>(random_.below(4)));
    }
  }
  void scribbleRecordField() {
    WireRecord& record = *currentRecord();
    switch (random_.below(6)) {
      case 0:
        record.byteLength = value(record.byteLength);
        break;
      case 1:
        record.kind = static_cast<shm::RecordKind>(1 + random_.below(3));
        break;
      case 2:
        record.segmentCount = static_cast<std::uint8_t>(random_.below(6));
        break;
      case 3:
        record.stagedStart = value(record.stagedStart);
        break;
      case 4:
        record.segments[random_.below(4)].offset = value(record.segments[0].offset);
        break;
      default:
        record.segments[random_.below(4)].length = value(record.segments[0].length);
    }
  }
  void scribbleBytes(std::byte* at, std::size_t byteLength) {
    for (std::uint64_t i = 0, count = 1 + random_.below(16); i < count; ++i) {
      at[random_.below(byteLength)] = static_cast<std::byte>(random_.next());
    }
  }

  Random& random_;
  std::byte* memory_;
};

struct Totals {
  std::uint64_t protocol = 0;
  std::uint64_t unharmed = 0;
};

class Run {
 public:
  Run(std::uint64_t seed, std::array<Memory, 3>& sources, std::array<Memory, 2>& targets)
      : random_(seed), sources_(sources), targets_(targets) {}

  bool go(Totals& totals) {
    if (!pair_.connect()) return false;
    Scribbler scribbler(random_, connectionMemory());
    for (int i = 0; i < 40; ++i) {
      post(*pair_.qpA, postedA_);
      post(*pair_.qpB, postedB_);
      if (random_.below(3) == 0) scribbler.scribble();
      if (random_.below(2) == 0) pair_.a.step();
      if (random_.below(2) == 0) pair_.b.step();
    }
    return ends(totals);
  }

 private:
  void post(QueuePair& pair, std::uint64_t& posted) {
    if (random_.below(4) == 0) return;
    const Memory& target = targets_[random_.below(2)];
    const Memory& source = sources_[random_.below(3)];
    const std::size_t most = random_.below(3) == 0 ? kMemory : 200;
    const std::size_t length = random_.below(most + 1);
    WorkRequest receive = request(Opcode::kReceive, 0, {target.all()});
    WorkRequest send = request(
        Opcode::kSend, 0, {source.segment(0, length / 2), source.segment(length / 2, length / 3)});
    if (pair.postReceive(receive) == PostResult::kPosted) ++posted;
    if (pair.postSend(send) == PostResult::kPosted) ++posted;
    pair.ringDoorbell();
  }

  // Both sides come to rest, each ended as a victim would or carried on, and nothing was lost.
  bool ends(Totals& totals) {
    int rounds = 0;
    for (int quiet = 0; quiet < 3 && rounds < 5000; ++rounds) quiet = pair_.step() ? 0 : quiet + 1;
    bool good = rounds < 5000;
    for (const auto* events : {&pair_.a.events, &pair_.b.events}) {
      good = good && events->disconnected.size() <= 1;
      for (const Recorder::End& end : events->disconnected) {
        good = good && (end.why.fault == Fault::kProtocol || end.why.fault == Fault::kPeerLost ||
                        end.why.fault == Fault::kPeerClosed);
        if (end.why.fault == Fault::kProtocol) ++totals.protocol;
      }
      if (events->disconnected.empty()) ++totals.unharmed;
    }
    pair_.qpA->fail();
    pair_.qpB->fail();
    pair_.a.collect();
    pair_.b.collect();
    return good && pair_.a.completions.size() == postedA_ && pair_.b.completions.size() == postedB_;
  }

  Random random_;
  std::array<Memory, 3>& sources_;
  std::array<Memory, 2>& targets_;
  Pair pair_{kDepth};
  std::uint64_t postedA_ = 0;
  std::uint64_t postedB_ = 0;
};

std::uint64_t environment(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text != nullptr ? std::strtoull(text, nullptr, 10) : otherwise;
}

}  // namespace

TEST(survives_scribbled_words_and_records) {
  std::array<Memory, 3> sources{Memory::engine(kMemory), Memory::engine(kMemory),
                                Memory::plain(kMemory)};
  std::array<Memory, 2> targets{Memory::plain(kMemory), Memory::plain(kMemory)};
  const std::uint64_t first = environment("SHM_SEED", 1);
  const std::uint64_t count = environment("SHM_SEEDS", 1'000);
  Totals totals;
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    Run run(seed, sources, targets);
    if (run.go(totals)) continue;
    std::fprintf(stderr, "seed %llu\n", static_cast<unsigned long long>(seed));
    check::fail(__FILE__, __LINE__, "it did not come to a proper end");
  }
  for (const Memory& target : targets) CHECK(target.guardsIntact());
  CHECK(count < 100 || (totals.protocol > count / 4 && totals.unharmed > count / 20));
  std::fprintf(stderr, "scribbled: %llu seeds, %llu sides ended by protocol, %llu went on\n",
               static_cast<unsigned long long>(count),
               static_cast<unsigned long long>(totals.protocol),
               static_cast<unsigned long long>(totals.unharmed));
}
