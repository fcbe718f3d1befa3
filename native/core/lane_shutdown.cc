// The end of a lane, in whatever state it is.
#include <thread>
#include <vector>

#include "core/lane.h"
#include "core/os/clock.h"

namespace queuepair {
namespace {

// Whoever holds the token is inside one step, which is bounded. A second is far beyond any step; a
// token still taken then was overwritten in shared memory, and only the destructor ignores it.
constexpr std::uint64_t kTokenPatienceNanoseconds = 1'000'000'000;

}  // namespace

Lane::~Lane() {
  shutdown();
  if (!shutDown_) destroyEverything();
}

void Lane::shutdown() {
  const std::uint64_t giveUpAt = os::nowNanoseconds() + kTokenPatienceNanoseconds;
  while (!shutDown_) {
    if (token_.tryTake(Role::kPoller)) {
      if (!shutDown_) destroyEverything();
      [[maybe_unused]] const bool again = token_.release();
      return;
    }
    if (os::nowNanoseconds() > giveUpAt) return;
    std::this_thread::yield();
  }
}

// Listeners first, so that nothing new arrives; then all that uses memory; regions at the end. The
// owner isn't woken: it is ending as well, or has asked for this.
void Lane::destroyEverything() {
  shutDown_ = true;
  if (adapter_ == nullptr || queue_ == nullptr) {  // it never opened
    queue_ = nullptr;
    adapter_ = nullptr;
    return;
  }
  if (armed_) disarmProvider();
  control_.destroyListeners();
  connections_.endAll(Fault::kClosedLocally, "the engine was closed");
  drain_.run(*queue_);
  connections_.destroyAll();
  queue_ = nullptr;
  adapter_ = nullptr;
  std::vector<Handle> regions;
  regions_.forEach([&](const Region& region) {
    regions.push_back({region.slot, region.generation});
  });
  // One that a thread visits stays until the lane itself goes, which that thread keeps alive.
  for (const Handle region : regions) {
    regions_.beginRelease(region);
    regions_.takeUnvisited(region);
  }
  completions_.publish();
  events_.publish();
}

}  // namespace queuepair
