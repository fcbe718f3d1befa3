// The progress token: who holds it may step. Nobody waits for it. Who fails to take it sets
// `again`, and the holder looks at that word after it has let go, so work that was published in
// between is seen by one of the two.
#pragma once

#include <cstdint>

#include "core/shared_header.h"

namespace queuepair {

// Who may hold the progress token; the values stand in the token's word.
enum class Role : std::uint32_t { kNone = 0, kOwner = 1, kPoller = 2 };

class ProgressToken {
 public:
  explicit ProgressToken(SharedHeader header) noexcept : header_(header) {}

  [[nodiscard]] bool tryTake(Role role) noexcept {
    if (!take(role)) {
      header_.store(layout::kAgainAt, 1);
      // The holder may have let go between our attempt and the word, and not seen it.
      if (!take(role)) return false;
    }
    // Before the work: what was published before the word was set is seen by the step that follows.
    if (header_.load(layout::kAgainAt) != 0) header_.store(layout::kAgainAt, 0);
    return true;
  }

  // True: somebody failed to take it meanwhile, so there may be work that nobody has looked at.
  [[nodiscard]] bool release() noexcept {
    header_.store(layout::kTokenAt, 0);
    return header_.load(layout::kAgainAt) != 0;
  }

 private:
  [[nodiscard]] bool take(Role role) noexcept {
    return header_.load(layout::kTokenAt) == 0 &&
           header_.exchange(layout::kTokenAt, 0, static_cast<std::uint32_t>(role));
  }

  SharedHeader header_;
};

}  // namespace queuepair
