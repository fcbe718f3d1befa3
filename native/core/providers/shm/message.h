// Socket messages on their way out and in.
#pragma once

#include <cstddef>
#include <span>

#include "core/providers/shm/wire.h"

namespace queuepair::shm {

// 0 or errno; EAGAIN when the peer has too much unread. `attached` (or -1) stays the caller's.
int sendMessage(int socket, const Message& message, std::span<const std::byte> privateData,
                int attached = -1) noexcept;

struct ParsedMessage {
  bool valid = false;
  Message header{};
  std::span<const std::byte> privateData{};  // within what was parsed
};
ParsedMessage parseMessage(std::span<const std::byte> bytes) noexcept;

}  // namespace queuepair::shm
