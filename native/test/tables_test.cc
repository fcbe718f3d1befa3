// The object table's generations, the operation table, work queues, faults, names.
#include <cstring>
#include <deque>
#include <random>
#include <thread>

#include "core/connection.h"
#include "core/fault.h"
#include "core/object_table.h"
#include "core/operation_table.h"
#include "core/status.h"
#include "core/work_queue.h"
#include "test/check.h"

using namespace queuepair;

namespace {

struct Thing {
  explicit Thing(int of) : value(of) {}
  std::uint32_t slot = 99;
  std::uint32_t generation = 99;
  int value;
};

WorkRequest request(std::uint32_t slot, std::uint32_t generation) {
  WorkRequest made{};
  made.id = operationId(slot, generation);
  made.opcode = Opcode::kSend;
  return made;
}

}  // namespace

TEST(aHandleNamesOneObjectForEver) {
  ObjectTable<Thing> table;
  const Handle first = table.insert(std::make_unique<Thing>(1));
  CHECK_EQ(table.get(first)->value, 1);
  CHECK_EQ(table.get(first)->slot, first.slot);
  CHECK_EQ(table.get(first)->generation, first.generation);
  CHECK(table.remove(first) != nullptr);
  CHECK(table.get(first) == nullptr);
  CHECK(table.remove(first) == nullptr);
  const Handle second = table.insert(std::make_unique<Thing>(2));
  CHECK_EQ(second.slot, first.slot);
  CHECK(second.generation != first.generation);
  CHECK(table.get(first) == nullptr);
  CHECK_EQ(table.get(second)->value, 2);
}

TEST(hostileHandlesFindNothing) {
  ObjectTable<Thing> table;
  table.insert(std::make_unique<Thing>(1));
  CHECK(table.get({0, 0}) == nullptr);
  CHECK(table.get({0, 2}) == nullptr);
  CHECK(table.get({1, 1}) == nullptr);
  CHECK(table.get({255, 0}) == nullptr);
  CHECK(table.get({256, 1}) == nullptr);
  CHECK(table.get({UINT32_MAX, UINT32_MAX}) == nullptr);
}

TEST(aFullObjectTableSaysSo) {
  constexpr std::uint32_t kMost = ObjectTable<int>::kChunk * ObjectTable<int>::kChunks;
  ObjectTable<int> table;
  for (std::uint32_t count = 0; count < kMost; ++count) {
    REQUIRE(table.insert(std::make_unique<int>(1)).generation == 1);
  }
  CHECK_EQ(table.insert(std::make_unique<int>(1)).generation, 0U);
  CHECK(table.remove({5, 1}) != nullptr);
  const Handle again = table.insert(std::make_unique<int>(1));
  CHECK_EQ(again.slot, 5U);
  CHECK_EQ(again.generation, 2U);
}

TEST(objectTableFromTwoThreads) {
  ObjectTable<Thing> table;
  std::atomic<std::uint64_t> published{0};
  std::thread inserter([&] {
    for (int count = 1; count <= 2'000; ++count) {
      const Handle made = table.insert(std::make_unique<Thing>(count));
      published.store((std::uint64_t{made.generation} << 32) | made.slot);
    }
  });
  int seen = 0;
  while (seen < 2'000) {
    const std::uint64_t name = published.load();
    const Handle handle{static_cast<std::uint32_t>(name), static_cast<std::uint32_t>(name >> 32)};
    const Thing* thing = table.get(handle);
    if (thing != nullptr) {
      CHECK(thing->value >= seen);
      seen = thing->value;
    }
    table.forEach([](const Thing& each) { CHECK(each.generation == 1); });
  }
  inserter.join();
}

TEST(operationsEndOnce) {
  OperationTable table(8);
  Connection connection;
  Region region(nullptr, 0, 0);
  WorkRequest first = request(3, 7);
  first.segmentCount = 2;
  first.segments[0].region = &region;
  first.segments[1].region = &region;
  CHECK(table.isFree(3));
  table.begin(first, connection);
  CHECK(!table.isFree(3));
  CHECK_EQ(region.references(), 2U);
  CHECK(table.find(operationId(3, 6)) == nullptr);
  CHECK(table.find(operationId(4, 7)) == nullptr);
  CHECK(table.find(operationId(8, 7)) == nullptr);
  Operation* operation = table.find(first.id);
  REQUIRE(operation != nullptr);
  CHECK(operation->connection == &connection);
  table.end(*operation);
  CHECK_EQ(region.references(), 0U);
  CHECK(table.isFree(3) && table.find(first.id) == nullptr);
  CHECK(!table.isFree(8) && !table.isFree(UINT32_MAX));
}

TEST(activeOperationsAreFound) {
  OperationTable table(1 << 20);
  Connection connection;
  for (const std::uint32_t slot : {5U, 1U, 70'000U}) table.begin(request(slot, slot), connection);
  table.end(*table.find(operationId(1, 1)));
  std::vector<std::uint32_t> found;
  table.forEachActive([&](std::uint64_t id, Operation& operation) {
    found.push_back(operationSlot(id));
    table.end(operation);
  });
  CHECK((found == std::vector<std::uint32_t>{5, 70'000}));
  CHECK_EQ(table.active(), 0U);
}

TEST(workQueueAgainstAModel) {
  std::mt19937_64 random(5);
  WorkQueue queue;
  std::deque<std::uint32_t> model;
  std::uint32_t next = 0;
  for (int round = 0; round < 3'000; ++round) {
    const bool grows = (round / 100) % 2 == 0;
    for (std::uint64_t count = random() % (grows ? 9 : 3); count > 0; --count) {
      queue.push(request(next, 1));
      model.push_back(next++);
    }
    for (std::uint64_t count = random() % (grows ? 3 : 15); count > 0 && !model.empty(); --count) {
      REQUIRE(CHECK_EQ(operationSlot(queue.front().id), model.front()));
      queue.pop();
      model.pop_front();
    }
    REQUIRE(CHECK_EQ(queue.empty(), model.empty()));
  }
}

TEST(faultsFireAsPlanned) {
  FaultInjector faults;
  std::uint64_t value = 0;
  const auto fires = [&](FaultPoint point) { return faults.fires(point, value); };
  CHECK(!fires(FaultPoint::kPostAgain));
  faults.arm(FaultPoint::kPostAgain, 2, 2, 55);
  CHECK(!fires(FaultPoint::kCompletionDelay));
  CHECK(!fires(FaultPoint::kPostAgain) && !fires(FaultPoint::kPostAgain));
  CHECK(fires(FaultPoint::kPostAgain) && fires(FaultPoint::kPostAgain));
  CHECK_EQ(value, 55U);
  CHECK(!fires(FaultPoint::kPostAgain));
  faults.arm(FaultPoint::kPostAgain, 0, 1, 0);
  CHECK(fires(FaultPoint::kPostAgain));
  faults.arm(FaultPoint::kPostAgain, 0, 5, 0);
  faults.arm(FaultPoint::kPostAgain, 0, 0, 0);
  CHECK(!fires(FaultPoint::kPostAgain));
  faults.arm(static_cast<FaultPoint>(200), 0, 1, 0);  // no such point
}

TEST(everyStatusAndFaultHasAName) {
  for (std::uint32_t index = 0; index < kStatusCount; ++index) {
    CHECK(std::strcmp(statusName(static_cast<Status>(index)), "unknown") != 0);
  }
  for (std::uint32_t index = 0; index < kFaultCount; ++index) {
    CHECK(std::strcmp(faultName(static_cast<Fault>(index)), "unknown") != 0);
  }
  CHECK_EQ(std::string(statusName(static_cast<Status>(kStatusCount))), "unknown");
  CHECK_EQ(std::string(faultName(static_cast<Fault>(kFaultCount))), "unknown");
  CHECK_EQ(std::string(statusName(Status::kRemoteAccess)), "remote-access");
  CHECK_EQ(std::string(faultName(Fault::kBacklogFull)), "backlog-full");
}
