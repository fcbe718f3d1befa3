// Unix sockets in the abstract namespace that carry whole messages (SOCK_SEQPACKET), each with at
// most one descriptor. The kernel removes such a name with the process that holds it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "core/os/file_descriptor.h"

namespace queuepair::os {

struct SocketCredentials {
  std::int64_t processId = -1;
  std::int64_t userId = -1;
};

// `name` without the leading zero byte. All sockets are non-blocking and close on exec.
// Invalid with errno set: EADDRINUSE when somebody listens there.
FileDescriptor listenOnSocket(std::string_view name, int backlog) noexcept;
FileDescriptor createSocket() noexcept;
// 0 or errno: ECONNREFUSED when nobody listens there, EAGAIN when the backlog is full (call again).
int connectSocket(int fd, std::string_view name) noexcept;
FileDescriptor acceptSocket(int listener) noexcept;

// Of the process at the other end, as the kernel noted them when it connected or listened.
bool socketCredentials(int fd, SocketCredentials& credentials) noexcept;
std::int64_t ownUserId() noexcept;

// 0 or errno; EAGAIN when the peer has too much unread. `attached` (or -1) is duplicated by the
// kernel.
int sendSocketMessage(int fd, std::span<const std::byte> message, int attached = -1) noexcept;

struct SocketMessage {
  enum class Kind : std::uint8_t {
    kMessage,
    kNothing,      // nothing there now
    kEnd,          // the peer closed, and everything it sent was read
    kTruncated,    // longer than the buffer, or with more than one descriptor
    kNoDescriptor  // it had a descriptor, and this process had no room for it
  };
  Kind kind = Kind::kNothing;
  std::size_t byteLength = 0;
  FileDescriptor attached{};
};
SocketMessage receiveSocketMessage(int fd, std::span<std::byte> into) noexcept;

// The peer reads the end after all that was sent before; receiving goes on.
void endSocketWrites(int fd) noexcept;

}  // namespace queuepair::os
