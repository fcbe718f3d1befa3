// Takes completions from the provider's queue, a bounded number a step.
#pragma once

#include <array>
#include <cstdint>
#include <deque>

#include "core/connection_set.h"
#include "core/fault.h"
#include "core/provider.h"
#include "core/work.h"

namespace queuepair {

class CompletionDrain {
 public:
  CompletionDrain(ConnectionSet& connections, FaultInjector& faults) noexcept
      : connections_(connections), faults_(faults) {}

  // Tells the pairs of connections that end, and gathers what that flushes. True: anything came.
  bool run(CompletionQueue& queue);
  // Injected delays are counted in steps, so the lane may not park meanwhile.
  [[nodiscard]] bool holds() const noexcept { return !held_.empty(); }

 private:
  struct Held {
    WorkCompletion completion;
    std::uint64_t dueRun;
  };
  void take(WorkCompletion& completion);
  bool releaseDue();

  ConnectionSet& connections_;
  FaultInjector& faults_;
  std::array<WorkCompletion, 64> batch_{};  // what the field polls at once (rdma-peers.md, B1)
  std::deque<Held> held_{};                 // what comes behind a delayed one waits with it
  std::uint64_t runs_ = 0;
};

}  // namespace queuepair
