// Regions on their way out: first nothing in flight names them, then the provider takes them away
// from every peer, then they are destroyed. Under the token.
#pragma once

#include <vector>

#include "core/control_queue.h"
#include "core/provider.h"
#include "core/region_table.h"

namespace queuepair {

class RegionRelease {
 public:
  RegionRelease(RegionTable& regions, EventQueue& events) noexcept
      : regions_(regions), events_(events) {}

  void begin(Handle region);
  void onDeregistered(const Region& region) noexcept;
  // True: one of them came a step further.
  bool advance(Adapter& adapter) { return !leaving_.empty() && advanceAll(adapter); }

 private:
  enum class Stage : std::uint8_t { kInUse, kDeregistering, kDeregistered };
  struct Leaving {
    Handle handle;
    Region* region;
    Stage stage;
    Failure failure;
  };
  bool advanceAll(Adapter& adapter);
  bool deregister(Leaving& leaving, Adapter& adapter);
  bool remove(Leaving& leaving);

  RegionTable& regions_;
  EventQueue& events_;
  std::vector<Leaving> leaving_{};
};

}  // namespace queuepair
