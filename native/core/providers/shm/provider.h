// Connections between processes of one host and one user, through shared memory.
#pragma once

#include <memory>

#include "core/provider.h"

namespace queuepair::shm {

class SharedMemoryProvider final : public Provider {
 public:
  [[nodiscard]] const char* name() const override { return "shm"; }
  [[nodiscard]] ProviderReport probe() override;
  std::unique_ptr<Adapter> openAdapter(os::WaitSet& waitSet, AdapterEvents& events,
                                       FaultInjector& faults, Failure& failure) override;
};

}  // namespace queuepair::shm
