// Faults that tests inject into the native core. A lane without them pays one predictable branch at
// each labelled point. Armed from JavaScript through an option that the public API does not have.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "core/status.h"

namespace queuepair {

enum class FaultPoint : std::uint8_t {
  kCompletionDelay = 0,      // value: steps for which a completion is held back
  kCompletionStatus = 1,     // value: the Status that a success becomes; the connection then fails
  kPostAgain = 2,            // a post answers "again"
  kRegistrationFails = 3,    // value: errno
  kOwnerWakeSwallowed = 4,   // the owner's wake is counted but not sent
  kPollerWakeSwallowed = 5,  // the doorbell is not rung
  kStepStalls = 6,           // value: microseconds that a step sleeps, holding the token
  kPeerRecordCorrupted = 7,  // the next record sent is damaged; value picks the field
};
inline constexpr std::size_t kFaultPointCount = 8;

class FaultInjector {
 public:
  // Any thread. The point fires for the `skip + 1`th to `skip + count`th time that it is passed.
  void arm(FaultPoint point, std::uint32_t skip, std::uint32_t count, std::uint64_t value) noexcept;

  // True when the point fires now; `value` is then set.
  [[nodiscard]] bool fires(FaultPoint point, std::uint64_t& value) noexcept {
    return armed_.load(std::memory_order_relaxed) != 0 && firesSlowly(point, value);
  }

 private:
  struct Plan {
    std::atomic<std::uint32_t> skip{0};
    std::atomic<std::uint32_t> count{0};
    std::atomic<std::uint64_t> value{0};
  };
  [[nodiscard]] bool firesSlowly(FaultPoint point, std::uint64_t& value) noexcept;

  std::atomic<std::uint32_t> armed_{0};  // one bit a point
  std::array<Plan, kFaultPointCount> plans_{};
};

}  // namespace queuepair
