#include "core/region_table.h"

namespace queuepair {

bool RegionTable::visit(Handle handle, void (*visitor)(Region&), bool& wasLast) {
  Region* region = nullptr;
  {
    const std::lock_guard lock(mutex_);
    region = table_.get(handle);
    if (region == nullptr || region->releasing) return false;
    ++region->visitors;
  }
  visitor(*region);
  const std::lock_guard lock(mutex_);
  wasLast = --region->visitors == 0 && region->releasing;
  return true;
}

Region* RegionTable::beginRelease(Handle handle) {
  const std::lock_guard lock(mutex_);
  Region* region = table_.get(handle);
  if (region == nullptr || region->releasing) return nullptr;
  region->releasing = true;
  return region;
}

std::unique_ptr<Region> RegionTable::takeUnvisited(Handle handle) {
  const std::lock_guard lock(mutex_);
  const Region* region = table_.get(handle);
  if (region == nullptr || region->visitors > 0) return nullptr;
  return table_.remove(handle);
}

}  // namespace queuepair
