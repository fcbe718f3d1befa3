#include "core/region_release.h"

#include <utility>

namespace queuepair {

void RegionRelease::begin(Handle handle) {
  Region* region = regions_.beginRelease(handle);
  if (region != nullptr) {
    leaving_.push_back({handle, region, Stage::kInUse, {}});
  } else if (regions_.find(handle) == nullptr) {
    events_.add({.kind = EventKind::kRegionReleased, .object = handle});  // it does not exist
  }
}

void RegionRelease::onDeregistered(const Region& region) noexcept {
  for (Leaving& leaving : leaving_) {
    if (leaving.region == &region && leaving.stage == Stage::kDeregistering) {
      leaving.stage = Stage::kDeregistered;
    }
  }
}

bool RegionRelease::advanceAll(Adapter& adapter) {
  bool advanced = false;
  for (std::size_t index = 0; index < leaving_.size();) {
    Leaving& leaving = leaving_[index];
    if (leaving.stage == Stage::kInUse) advanced |= deregister(leaving, adapter);
    if (leaving.stage == Stage::kDeregistered && remove(leaving)) {
      leaving_.erase(leaving_.begin() + static_cast<std::ptrdiff_t>(index));
      advanced = true;
    } else {
      ++index;
    }
  }
  return advanced;
}

bool RegionRelease::deregister(Leaving& leaving, Adapter& adapter) {
  if (leaving.region->references() > 0) return false;
  ControlResult result = adapter.deregister(*leaving.region);
  const bool pending = result.kind == ControlResult::Kind::kPending;
  leaving.stage = pending ? Stage::kDeregistering : Stage::kDeregistered;
  leaving.failure = std::move(result.failure);
  return true;
}

bool RegionRelease::remove(Leaving& leaving) {
  const std::unique_ptr<Region> region = regions_.takeUnvisited(leaving.handle);
  if (region == nullptr) return false;
  events_.add({.kind = EventKind::kRegionReleased,
               .object = leaving.handle,
               .failure = std::move(leaving.failure)});
  return true;
}

}  // namespace queuepair
