// The lane's regions, and their release: a region goes away once no work names it, no thread visits
// it and the provider has taken it away from every peer.
#pragma once

#include <memory>
#include <mutex>

#include "core/object_table.h"
#include "core/region.h"

namespace queuepair {

class RegionTable {
 public:
  // --- any thread ---
  Handle add(std::unique_ptr<Region> region) { return table_.insert(std::move(region)); }
  // Runs `visitor` on a region that stays meanwhile. False: no such region, or it is being
  // released. `wasLast`: the region's release waited for this visit.
  bool visit(Handle handle, void (*visitor)(Region&), bool& wasLast);

  // --- under the token ---
  [[nodiscard]] Region* find(Handle handle) const noexcept { return table_.get(handle); }
  // From now on no new work and no new visit finds it. Null: no such region, or it is known
  // already.
  Region* beginRelease(Handle handle);
  // Null while a thread visits it.
  std::unique_ptr<Region> takeUnvisited(Handle handle);
  template <typename Visit>
  void forEach(Visit visitor) {
    table_.forEach(visitor);
  }

 private:
  ObjectTable<Region> table_;
  std::mutex mutex_;  // visits and the start and end of releases
};

}  // namespace queuepair
