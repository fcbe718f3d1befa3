#include "binding/lane_table.h"

#include <mutex>
#include <unordered_map>

namespace queuepair::binding {
namespace {

struct Table {
  std::mutex mutex;
  std::unordered_map<std::uint32_t, LaneReference> lanes;
  std::uint32_t nextId = 1;
};

// Leaks on purpose: threads may still look lanes up while the process runs its static destructors.
Table& table() {
  static auto* const kTable = new Table();
  return *kTable;
}

}  // namespace

SharedLane::~SharedLane() {
  if (lane != nullptr) lane->shutdown();
}

void enterLane(const LaneReference& record) {
  Table& all = table();
  const std::lock_guard lock(all.mutex);
  record->id = all.nextId++;
  all.lanes.emplace(record->id, record);
}

void forgetLane(std::uint32_t id) {
  Table& all = table();
  const std::lock_guard lock(all.mutex);
  all.lanes.erase(id);  // never the last reference: the caller holds one
}

LaneReference findLane(std::uint32_t id) {
  Table& all = table();
  const std::lock_guard lock(all.mutex);
  const auto found = all.lanes.find(id);
  return found == all.lanes.end() ? nullptr : found->second;
}

}  // namespace queuepair::binding
