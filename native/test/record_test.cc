// Submission records: reading them, and holding hostile ones against regions and rules.
#include <cstdio>
#include <memory>
#include <random>

#include "core/record.h"
#include "core/region_table.h"
#include "test/check.h"
#include "test/test_owner.h"

using namespace queuepair;
using namespace queuepair::test;

namespace {

using Bytes = std::array<std::byte, layout::kSubmissionBytes>;
constexpr Limits kLimits{.maxMessageBytes = 1000};
constexpr Capabilities kEverything{.read = true, .write = true, .atomics = true};

struct Regions {
  Regions() {
    for (const std::size_t length : {std::size_t{0}, std::size_t{1}, std::size_t{64}, kLargest}) {
      handles.push_back(
          table.add(std::make_unique<Region>(bytes.get(), length, std::uint8_t{kLocalOnly})));
    }
  }
  static constexpr std::size_t kLargest = 4096;
  std::unique_ptr<std::byte[]> bytes = std::make_unique<std::byte[]>(kLargest);
  RegionTable table;
  std::vector<Handle> handles;
};

// Mostly plausible: pure noise is refused at its first byte and tests nothing behind it.
SubmissionRecord hostile(std::mt19937_64& random, const Regions& regions) {
  const auto upTo = [&](std::uint64_t most) { return random() % (most + 1); };
  const auto number = [&]() -> std::uint64_t {
    const std::uint64_t few = upTo(8);
    return few < 4 ? few * 16 : few < 6 ? upTo(5000) : few == 6 ? ~upTo(5000) : random();
  };
  SubmissionRecord record{
      .opcode = static_cast<std::uint8_t>(upTo(9) == 0 ? random() : upTo(8)),
      .flags = static_cast<std::uint8_t>(upTo(9) == 0 ? random() : upTo(3)),
      .segmentCount = static_cast<std::uint8_t>(upTo(19) == 0 ? random() : upTo(5)),
      .lane = static_cast<std::uint8_t>(upTo(99) == 0),
      .operationSlot = static_cast<std::uint32_t>(upTo(400)),
      .operationGeneration = static_cast<std::uint32_t>(random())};
  for (RecordSegment& segment : record.segments) {
    segment.region = regions.handles[upTo(regions.handles.size() - 1)];
    if (upTo(9) == 0) segment.region.generation = static_cast<std::uint32_t>(random());
    if (upTo(9) == 0) segment.region.slot = static_cast<std::uint32_t>(random());
    segment.offset = number();
    segment.length = number();
  }
  record.remoteOffset = number();
  return record;
}

bool fits(const RecordSegment& segment, const Regions& regions) {
  const Region* region = regions.table.find(segment.region);
  if (region == nullptr) return false;
  // 128 bits wide, so that the model cannot make the mistake that it looks for.
  return static_cast<unsigned __int128>(segment.offset) + segment.length <= region->byteLength();
}

// What the rules say, written down once more and differently.
bool modelAccepts(const SubmissionRecord& record, const Regions& regions) {
  if (record.opcode < 1 || record.opcode > 7 || record.segmentCount > 4) return false;
  unsigned __int128 total = 0;
  for (std::size_t index = 0; index < record.segmentCount; ++index) {
    if (!fits(record.segments[index], regions)) return false;
    total += record.segments[index].length;
  }
  const auto opcode = static_cast<Opcode>(record.opcode);
  if (opcode == Opcode::kSend || opcode == Opcode::kReceive) return total <= 1000;
  if (opcode == Opcode::kFlush) return total == 0;
  if (opcode == Opcode::kRead || opcode == Opcode::kWrite) return true;
  return total == 0 || total == 8;
}

}  // namespace

TEST(aRecordIsReadAsItWasWritten) {
  SubmissionRecord written{.opcode = static_cast<std::uint8_t>(Opcode::kCompareSwap),
                           .flags = kSignaled,
                           .segmentCount = 4,
                           .lane = 3,
                           .connection = {4, 5},
                           .operationSlot = 6,
                           .operationGeneration = 7,
                           .immediate = 8};
  for (std::uint32_t index = 0; index < 4; ++index) {
    written.segments[index] = {
        {10 + index, 20 + index}, (1ULL << 40) + index, (1ULL << 41) + index};
  }
  written.remoteSlot = 30;
  written.remoteGeneration = 31;
  written.remoteOffset = 1ULL << 33;
  written.operand = ~0ULL;
  written.swap = 1ULL << 63;
  Bytes first;
  Bytes second;
  writeRecord(written, first.data());
  SubmissionRecord read;
  readRecord(first.data(), read);
  writeRecord(read, second.data());
  CHECK(first == second);
}

TEST(onlyTheFirstLineIsReadOfAShortRecord) {
  Bytes bytes;
  writeRecord({.opcode = static_cast<std::uint8_t>(Opcode::kSend), .segmentCount = 1},
              bytes.data());
  // The rest of the record is not there: ASan would see a read of it.
  auto line = std::make_unique<std::byte[]>(layout::kLine);
  std::memcpy(line.get(), bytes.data(), layout::kLine);
  SubmissionRecord read;
  readRecord(line.get(), read);
  CHECK_EQ(read.opcode, 1);
}

TEST(hostileRecordsAgainstTheModel) {
  constexpr std::uint64_t kSeed = 20'260'101;
  std::fprintf(stderr, "hostileRecordsAgainstTheModel: seed %llu\n",
               static_cast<unsigned long long>(kSeed));
  std::mt19937_64 random(kSeed);
  const Regions regions;
  const RecordRules rules{regions.table, kEverything, kLimits};
  int accepted = 0;
  for (int count = 0; count < 100'000; ++count) {
    Bytes bytes;
    writeRecord(hostile(random, regions), bytes.data());
    SubmissionRecord record;
    readRecord(bytes.data(), record);
    WorkRequest request{};
    const bool accepts = resolveRecord(record, rules, request) == Status::kSuccess;
    REQUIRE(CHECK_EQ(accepts, modelAccepts(record, regions)));
    if (!accepts) continue;
    ++accepted;
    for (std::size_t index = 0; index < request.segmentCount; ++index) {
      const Segment& segment = request.segments[index];
      REQUIRE(segment.address == regions.bytes.get() + segment.offset);
      REQUIRE(segment.address + segment.length <= regions.bytes.get() + Regions::kLargest);
    }
  }
  CHECK(accepted > 5'000);  // else the records were not plausible enough
}

TEST(noiseIsNeverBelieved) {
  std::mt19937_64 random(7);
  const Regions regions;
  const RecordRules rules{regions.table, kEverything, kLimits};
  for (int count = 0; count < 100'000; ++count) {
    std::array<std::uint64_t, layout::kSubmissionBytes / 8> words{};
    for (std::uint64_t& word : words) word = random();
    SubmissionRecord record;
    readRecord(reinterpret_cast<const std::byte*>(words.data()), record);
    WorkRequest request{};
    const bool accepts = resolveRecord(record, rules, request) == Status::kSuccess;
    REQUIRE(CHECK_EQ(accepts, modelAccepts(record, regions)));
  }
}

TEST(immediatesBelongToSendsAndWrites) {
  const Regions regions;
  const RecordRules rules{regions.table, kEverything, kLimits};
  for (std::uint8_t opcode = 1; opcode <= 7; ++opcode) {
    WorkRequest request{};
    CHECK(resolveRecord({.opcode = opcode, .flags = 0xff, .immediate = 5}, rules, request) ==
          Status::kSuccess);
    const bool carries = opcode == 1 || opcode == 4;
    CHECK_EQ(request.flags, carries ? kSignaled | kImmediate : kSignaled);
  }
}

TEST(limitsOnSegments) {
  const Regions regions;
  const Limits narrow{.maxSegments = 2, .maxMessageBytes = 1000};
  const RecordRules rules{regions.table, kEverything, narrow};
  SubmissionRecord record{.opcode = static_cast<std::uint8_t>(Opcode::kWrite), .segmentCount = 2};
  for (RecordSegment& segment : record.segments) segment.region = regions.handles[3];
  WorkRequest request{};
  CHECK(resolveRecord(record, rules, request) == Status::kSuccess);
  record.segmentCount = 3;
  CHECK(resolveRecord(record, rules, request) == Status::kLocalLength);
}
