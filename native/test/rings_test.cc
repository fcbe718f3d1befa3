// Both rings across the wrap of their 32-bit indexes, against models, and the lane on top of them.
#include <cstdio>
#include <deque>
#include <random>

#include "core/completion_ring.h"
#include "core/submission_ring.h"
#include "test/check.h"
#include "test/lane_fixture.h"

using namespace queuepair;
using namespace queuepair::test;

namespace {

constexpr std::uint32_t kCapacity = 16;
// So that the indexes wrap after a few dozen records.
constexpr std::uint32_t kNearTheEnd = UINT32_MAX - 40;
constexpr std::uint64_t kSeed = 4711;

}  // namespace

TEST(submissionRingAgainstAModel) {
  std::fprintf(stderr, "submissionRingAgainstAModel: seed %llu\n",
               static_cast<unsigned long long>(kSeed));
  std::mt19937_64 random(kSeed);
  TestOwner owner({.submissionCapacity = kCapacity, .firstIndex = kNearTheEnd});
  SubmissionRing ring(owner.header(), owner.bytes() + layout::kHeaderBytes, kCapacity);
  std::deque<std::uint32_t> model;
  std::uint32_t next = 0;
  for (int round = 0; round < 5'000; ++round) {
    for (std::uint64_t batch = random() % (kCapacity + 1); batch > 0 && owner.hasSpace(); --batch) {
      owner.write({.operationSlot = next});
      model.push_back(next++);
    }
    owner.publish();
    const std::uint32_t waiting = ring.waiting();
    REQUIRE(CHECK_EQ(waiting, model.size()) && ring.isSound(waiting));
    const std::uint64_t taken = waiting == 0 ? 0 : random() % (waiting + 1);
    for (std::uint64_t index = 0; index < taken; ++index) {
      SubmissionRecord record;
      readRecord(ring.next(), record);
      REQUIRE(CHECK_EQ(record.operationSlot, model.front()));
      model.pop_front();
    }
    ring.publishHead();
  }
  CHECK(owner.header().load(layout::kSubmissionHeadAt) < kNearTheEnd);
}

TEST(unsoundTailsAreSeen) {
  TestOwner owner({.submissionCapacity = kCapacity, .firstIndex = kNearTheEnd});
  const SubmissionRing ring(owner.header(), owner.bytes() + layout::kHeaderBytes, kCapacity);
  const auto soundAt = [&](std::uint32_t tail) {
    owner.header().store(layout::kSubmissionTailAt, tail);
    return ring.isSound(ring.waiting());
  };
  CHECK(soundAt(kNearTheEnd));
  CHECK(soundAt(kNearTheEnd + kCapacity));
  CHECK(!soundAt(kNearTheEnd + kCapacity + 1));
  CHECK(!soundAt(kNearTheEnd - 1));
}

TEST(completionRingAgainstAModel) {
  std::mt19937_64 random(kSeed);
  TestOwner owner({.submissionCapacity = kCapacity,
                   .completionCapacity = kCapacity,
                   .firstIndex = kNearTheEnd});
  std::byte* records = owner.bytes() + layout::kHeaderBytes + kCapacity * layout::kSubmissionBytes;
  CompletionRing ring(owner.header(), records, kCapacity);
  std::deque<std::uint32_t> model;
  std::uint32_t next = 0;
  for (int round = 0; round < 5'000; ++round) {
    for (std::uint64_t batch = random() % (kCapacity + kCapacity); batch > 0; --batch) {
      CompletionRecord record{};
      record.operationSlot = next;
      const bool written = ring.write(record);
      REQUIRE(CHECK_EQ(written, model.size() < kCapacity));
      if (written) model.push_back(next++);
    }
    ring.publish();
    CHECK(!ring.publish());
    CHECK_EQ(ring.unread(), !model.empty());
    CompletionRecord record{};
    for (std::uint64_t count = random() % (kCapacity + 1); count > 0 && owner.take(record);
         --count) {
      REQUIRE(CHECK_EQ(record.operationSlot, model.front()));
      model.pop_front();
    }
  }
}

TEST(unpublishedCompletionsAreInvisible) {
  TestOwner owner;
  std::byte* records = owner.bytes() + layout::kHeaderBytes + 64 * layout::kSubmissionBytes;
  CompletionRing ring(owner.header(), records, 256);
  CHECK(ring.write({}));
  CHECK(!owner.hasCompletions());
  CHECK(ring.publish());
  CHECK(owner.hasCompletions());
}

// Random batches through the whole lane: everything completes once, in order, across both wraps.
TEST(aLaneAcrossTheWrap) {
  std::mt19937_64 random(kSeed);
  LaneFixture f(
      {.submissionCapacity = kCapacity, .completionCapacity = 64, .firstIndex = kNearTheEnd});
  f.script.completesAtOnce = true;
  const Handle connection = f.establish();
  std::uint32_t submitted = 0;
  std::uint32_t completed = 0;
  for (int round = 0; round < 2'000; ++round) {
    for (std::uint64_t batch = random() % 20; batch > 0; --batch) {
      if (!f.owner.hasSpace() || submitted - completed >= 64) break;
      SubmissionRecord record = f.record(Opcode::kSend, connection);
      record.operationSlot = submitted % 64;
      record.operationGeneration = ++submitted;
      f.owner.write(record);
    }
    f.owner.publish();
    f.settle();
    for (const CompletionRecord& record : f.owner.takeAll()) {
      REQUIRE(CHECK_EQ(record.operationGeneration, ++completed));
      REQUIRE(CHECK_EQ(record.status, 0));
    }
  }
  CHECK_EQ(submitted, completed);
  CHECK(submitted > 10'000);
}

// Hostile records through the whole lane: each gets exactly one completion, whatever it says.
TEST(everyHostileRecordCompletesOnce) {
  constexpr std::uint64_t kHostileSeed = 99;
  std::fprintf(stderr, "everyHostileRecordCompletesOnce: seed %llu\n",
               static_cast<unsigned long long>(kHostileSeed));
  std::mt19937_64 random(kHostileSeed);
  LaneFixture f({.submissionCapacity = kCapacity, .completionCapacity = 64});
  f.script.connect = ControlResult::done();
  f.script.completesAtOnce = true;
  const Handle region = f.region(64);
  Handle connection{};
  for (std::uint32_t count = 1; count <= 100'000; ++count) {
    if (connection.generation == 0) {
      connection = f.lane->createConnection();
      f.control(ControlKind::kConnect, connection);
    }
    SubmissionRecord record = f.record(static_cast<Opcode>(1 + random() % 7), connection);
    record.operationSlot = static_cast<std::uint32_t>(random() % 65);
    record.operationGeneration = count;
    record.segmentCount = static_cast<std::uint8_t>(random() % 3);
    record.segments[0] = {region, random() % 70, random() % 10};
    record.segments[1] = {{region.slot, region.generation + (random() % 8 == 0)}, 0, random() % 9};
    if (random() % 16 == 0) record.connection.slot = static_cast<std::uint32_t>(random());
    f.owner.submit(record);
    f.settle();
    int own = 0;
    for (const CompletionRecord& done : f.owner.takeAll()) own += done.operationGeneration == count;
    // A receive completes when its connection ends, which is forced now and then.
    const bool isReceive = record.opcode == static_cast<std::uint8_t>(Opcode::kReceive);
    REQUIRE(isReceive ? own <= 1 : own == 1);
    if (random() % 8 == 0) f.control(ControlKind::kDestroy, connection);
    for (const Event& event : f.events()) {
      if (event.kind == EventKind::kDisconnected) f.control(ControlKind::kDestroy, event.object);
      if (event.kind == EventKind::kDestroyed) connection = {};
    }
  }
}
