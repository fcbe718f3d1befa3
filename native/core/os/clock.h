#pragma once

#include <cstdint>

namespace queuepair::os {

std::uint64_t nowNanoseconds() noexcept;  // CLOCK_MONOTONIC
void pauseProcessor() noexcept;           // a spin loop's hint

}  // namespace queuepair::os
