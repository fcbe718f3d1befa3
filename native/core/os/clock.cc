#include "core/os/clock.h"

#include <time.h>

namespace queuepair::os {

std::uint64_t nowNanoseconds() noexcept {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000U +
         static_cast<std::uint64_t>(now.tv_nsec);
}

void pauseProcessor() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb");  // `yield` is a no-op on most cores; `isb` waits about as long as `pause`
#endif
}

}  // namespace queuepair::os
