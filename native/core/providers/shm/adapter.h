// The one adapter, "shm0": makes the objects and drives them.
#pragma once

#include <cstdint>
#include <memory>

#include "core/provider.h"
#include "core/providers/shm/import_table.h"
#include "core/providers/shm/stable_list.h"

namespace queuepair::shm {

class SharedMemoryConnector;
class SharedMemoryListener;

Capabilities sharedMemoryCapabilities();
Limits sharedMemoryLimits();

class SharedMemoryAdapter final : public Adapter {
 public:
  SharedMemoryAdapter(os::WaitSet& waitSet, AdapterEvents& events, FaultInjector& faults);

  [[nodiscard]] const Capabilities& capabilities() const override { return capabilities_; }
  [[nodiscard]] const Limits& limits() const override { return limits_; }
  std::unique_ptr<CompletionQueue> createCompletionQueue(std::uint32_t slots,
                                                         Failure& failure) override;
  std::unique_ptr<QueuePair> createQueuePair(CompletionQueue& completions,
                                             const QueuePairOptions& options,
                                             Failure& failure) override;
  std::unique_ptr<Connector> createConnector(Failure& failure) override;
  std::unique_ptr<Listener> listen(const Address& at, std::uint32_t backlog,
                                   Failure& failure) override;
  ControlResult deregister(Region& region) override;
  bool progress(std::uint64_t nowNanoseconds) override;
  bool arm() override;
  void disarm() override;
  [[nodiscard]] std::uint64_t deadlineNanoseconds() const override;

  // --- for the objects made here ---
  [[nodiscard]] os::WaitSet& waitSet() noexcept { return waitSet_; }
  [[nodiscard]] AdapterEvents& events() noexcept { return events_; }
  [[nodiscard]] FaultInjector& faults() noexcept { return faults_; }
  [[nodiscard]] ImportBudget& importBudget() noexcept { return importBudget_; }
  void add(SharedMemoryConnector& connector);
  void remove(SharedMemoryConnector& connector);
  void activate(SharedMemoryConnector& connector);
  void add(SharedMemoryListener& listener) { listeners_.add(&listener); }
  void remove(SharedMemoryListener& listener) { listeners_.remove(&listener); }

 private:
  void prune();
  void restArmed();
  void deactivate(SharedMemoryConnector& connector);

  os::WaitSet& waitSet_;
  AdapterEvents& events_;
  FaultInjector& faults_;
  Capabilities capabilities_;
  Limits limits_;
  ImportBudget importBudget_{};
  StableList<SharedMemoryConnector> connectors_;
  StableList<SharedMemoryConnector> active_;  // those that progress() looks at
  StableList<SharedMemoryListener> listeners_;
  std::uint32_t rounds_ = 0;
};

}  // namespace queuepair::shm
