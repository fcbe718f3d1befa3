// What the poller worker's thread does in one turn: step, spin while work is likely, park when not.
// A turn is bounded, since JavaScript between turns is what lets a worker be ended.
#pragma once

#include <cstdint>

#include "core/lane.h"

namespace queuepair {

enum class PollingMode : std::uint8_t { kAdaptive = 0, kSpin = 1, kEvent = 2 };

// Stands in kPollerStateAt.
enum class PollerState : std::uint32_t {
  kStepping = 0,
  kWatching = 1,  // another role has the token
  kParked = 2,
};

class Poller {
 public:
  Poller(Lane& lane, PollingMode mode, std::uint64_t spinNanoseconds) noexcept;

  enum class TurnResult : std::uint8_t { kContinue = 0, kStopped = 1 };
  // At most about 1 ms of stepping, or one park of at most 100 ms.
  TurnResult turn();

 private:
  Lane::StepResult stepOnce();
  // Waits if it is time to. True: it did, or the lane said that there is work; the turn is over.
  bool rest(Lane::StepResult last, std::uint64_t now);
  void park();
  void watch();
  void lookNowAndThen(std::uint64_t now);
  void enter(PollerState state);

  Lane& lane_;
  SharedHeader header_;
  PollingMode mode_;
  std::uint64_t spinNanoseconds_;
  std::uint64_t lastActivity_ = 0;
  std::uint64_t lastLook_ = 0;
  PollerState state_ = PollerState::kStepping;
};

}  // namespace queuepair
