// The one place that names the providers.
#include <array>

#include "core/provider.h"

#ifdef __linux__
#include "core/providers/shm/provider.h"
#endif

namespace queuepair {

std::span<Provider* const> providers() {
#ifdef __linux__
  static shm::SharedMemoryProvider sharedMemory;
  static const std::array<Provider*, 1> kProviders{&sharedMemory};
#else
  static const std::array<Provider*, 0> kProviders{};
#endif
  return kProviders;
}

}  // namespace queuepair
