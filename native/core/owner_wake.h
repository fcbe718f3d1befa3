// When the owner's thread is woken: once for each time that it armed itself, and only when there is
// news. Under the token.
#pragma once

#include <cstdint>

#include "core/fault.h"
#include "core/shared_header.h"

namespace queuepair {

class OwnerWaker;

class OwnerWake {
 public:
  OwnerWake(SharedHeader header, OwnerWaker& waker, FaultInjector& faults) noexcept
      : header_(header), waker_(waker), faults_(faults) {}

  // After publishing. `news`: something was published. `drained`: the submission ring has space.
  void afterStep(bool news, bool drained, std::uint64_t now) noexcept;
  // A backstop against a wake that got lost: repeats it while the owner is armed and has not taken
  // what is there (`untaken`). Due 100 ms after the last wake or look. An arming that had no wake
  // yet may be about to look by itself: it gets one if the next look still finds it so.
  [[nodiscard]] bool lookIsDue(std::uint64_t now) const noexcept { return now >= nextLookAt_; }
  void look(bool untaken, bool drained, std::uint64_t now) noexcept;

 private:
  [[nodiscard]] bool wantsSpace(bool drained, std::uint32_t& request) const noexcept;
  void wake(std::uint32_t armed, std::uint64_t now) noexcept;

  SharedHeader header_;
  OwnerWaker& waker_;
  FaultInjector& faults_;
  std::uint32_t wokenFor_ = 0;   // the value of kOwnerArmedAt that got its wake; 0 is never armed
  std::uint32_t servedFor_ = 0;  // the value of kOwnerWantsSpaceAt that was answered
  std::uint32_t lookedAt_ = 0;   // the value of kOwnerArmedAt at the last look that found news
  std::uint64_t nextLookAt_ = 0;
};

}  // namespace queuepair
