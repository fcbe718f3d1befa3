// A lane: rings, token, poller and completion queue of one engine. step() is the whole data path:
// drain submissions into per-connection queues, post, progress the provider, publish completions.
//
// One step, in order: take the waiting control requests; drain the submission ring; carry out the
// requests taken (so that receives written before an accept are posted before it); post what waits;
// progress; poll the completion queue; publish; wake the owner once if it is armed and there is
// news.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/completion_drain.h"
#include "core/completion_writer.h"
#include "core/connection_set.h"
#include "core/control.h"
#include "core/control_plane.h"
#include "core/control_queue.h"
#include "core/fault.h"
#include "core/object_table.h"
#include "core/os/wait_set.h"
#include "core/owner_wake.h"
#include "core/provider.h"
#include "core/region.h"
#include "core/region_release.h"
#include "core/region_table.h"
#include "core/shared_header.h"
#include "core/submission_ring.h"
#include "core/token.h"

namespace queuepair {

// Wakes the owner's JavaScript thread; called by the step role, at most once per arming.
class OwnerWaker {
 public:
  virtual ~OwnerWaker() = default;
  virtual void wake() noexcept = 0;
};

class Lane final {
 public:
  // `shared` lies as layout.h says and outlives the lane. Null and `failure` when it cannot be.
  static std::unique_ptr<Lane> open(Provider& provider, std::span<std::byte> shared,
                                    OwnerWaker& waker, Failure& failure);
  ~Lane();  // shutdown() first
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;

  // --- the owner's thread ---
  Handle createConnection();  // {0, 0}: the table is full
  Handle createListener();
  Handle addRegion(std::unique_ptr<Region> region);
  void control(ControlRequest request);  // queues it and rings if the poller is parked
  std::vector<Event> takeEvents();
  void requestStop() noexcept;  // the poller's turn() returns "stopped" soon

  // --- any thread ---
  void ring() noexcept;
  FaultInjector& faults() noexcept { return faults_; }
  // Runs `visit` on a region that cannot go away meanwhile (faulting pages in). False: no such
  // region.
  bool visitRegion(Handle region, void (*visit)(Region&));
  [[nodiscard]] const Capabilities& capabilities() const noexcept { return capabilities_; }
  [[nodiscard]] const Limits& limits() const noexcept { return limits_; }
  [[nodiscard]] SharedHeader header() const noexcept { return header_; }

  // --- whoever would progress the lane ---
  enum class StepResult : std::uint8_t {
    kIdle,
    kMoved,
    kBusy
  };  // kBusy: another role has the token
  StepResult step(Role role);

  // --- the poller's thread; see poller.h ---
  [[nodiscard]] bool stopRequested() const noexcept;
  bool prepareToPark();      // arms everything; false: there is work, disarmed again
  bool park(int timeoutMs);  // waits on the wait set, without the token; false: timed out
  void unpark(bool timedOut);
  // Looks at the wait set, or waits on it, with nothing armed. A step dispatches what is ready.
  void look(int timeoutMs) noexcept { waitSet_.wait(timeoutMs); }

  // Destroys all provider objects, so that peers see the end; under the token, idempotent, waits
  // for nobody. From the poller's environment cleanup hook, or from close once the poller has
  // returned. Whatever is still in flight completes as flushed.
  void shutdown();

  // For tests: completions of operations that nobody has in flight.
  [[nodiscard]] std::uint64_t unknownCompletions() const noexcept {
    return connections_.unknownCompletions();
  }

 private:
  Lane(std::span<std::byte> shared, const Geometry& geometry, OwnerWaker& waker);
  bool openProvider(Provider& provider, Failure& failure);

  // All of these under the token.
  bool stepOnce(Role role);
  bool drainSubmissions();
  void admit(const SubmissionRecord& record, const RecordRules& rules);
  bool executeControl();
  bool publish(std::uint64_t now);
  void failIfBroken();
  [[nodiscard]] bool hasWork() const noexcept;
  bool armProvider();
  void disarmProvider();
  void destroyEverything();
  [[nodiscard]] int msUntilDeadline() const;

  Geometry geometry_;
  SharedHeader header_;
  FaultInjector faults_{};
  os::WaitSet waitSet_{};
  ProgressToken token_;
  SubmissionRing submissions_;
  CompletionWriter completions_;
  ControlQueue requests_{};
  std::vector<ControlRequest> taken_{};
  EventQueue events_;
  OwnerWake ownerWake_;
  RegionTable regions_{};
  RegionRelease releases_;
  ConnectionSet connections_;
  CompletionDrain drain_;
  ControlPlane control_;
  Capabilities capabilities_{};
  Limits limits_{};
  std::unique_ptr<Adapter> adapter_{};
  std::unique_ptr<CompletionQueue> queue_{};
  bool broken_ = false;  // the rings cannot be believed any more
  bool armed_ = false;   // the provider was asked to wake us and was not yet told to stop
  std::atomic<bool> shutDown_{false};
  int parkLimitMs_ = 0;  // the poller's own
};

}  // namespace queuepair
