#include "core/os/unix_socket.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace queuepair::os {
namespace {

constexpr int kSocketType = SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC;

struct AbstractAddress {
  sockaddr_un address{};
  socklen_t byteLength = 0;

  explicit AbstractAddress(std::string_view name) noexcept {
    address.sun_family = AF_UNIX;  // sun_path[0] stays zero: the abstract namespace
    const std::size_t length = std::min(name.size(), sizeof(address.sun_path) - 1);
    std::memcpy(address.sun_path + 1, name.data(), length);
    byteLength = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + length);
  }
  [[nodiscard]] const sockaddr* get() const noexcept {
    return reinterpret_cast<const sockaddr*>(&address);
  }
};

// CMSG_LEN, not CMSG_SPACE, is told to the kernel: the padding would hold a second descriptor.
struct Control {
  alignas(cmsghdr) std::byte bytes[CMSG_SPACE(sizeof(int))]{};
  static constexpr std::size_t kLength = CMSG_LEN(sizeof(int));
};

int takeDescriptor(msghdr& header) noexcept {
  const cmsghdr* control = CMSG_FIRSTHDR(&header);
  if (control == nullptr || control->cmsg_level != SOL_SOCKET || control->cmsg_type != SCM_RIGHTS ||
      control->cmsg_len != Control::kLength) {
    return -1;
  }
  int fd = -1;
  std::memcpy(&fd, CMSG_DATA(control), sizeof(fd));
  return fd;
}

}  // namespace

FileDescriptor createSocket() noexcept { return FileDescriptor(socket(AF_UNIX, kSocketType, 0)); }

FileDescriptor listenOnSocket(std::string_view name, int backlog) noexcept {
  FileDescriptor listener = createSocket();
  if (!listener.valid()) return listener;
  const AbstractAddress at(name);
  if (bind(listener.get(), at.get(), at.byteLength) != 0 || listen(listener.get(), backlog) != 0) {
    const int error = errno;
    listener.reset();
    errno = error;
  }
  return listener;
}

int connectSocket(int fd, std::string_view name) noexcept {
  const AbstractAddress to(name);
  return connect(fd, to.get(), to.byteLength) == 0 ? 0 : errno;
}

FileDescriptor acceptSocket(int listener) noexcept {
  return FileDescriptor(accept4(listener, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
}

bool socketCredentials(int fd, SocketCredentials& credentials) noexcept {
  ucred peer{};
  socklen_t length = sizeof(peer);
  if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0) return false;
  // 0: a process that this process's pid namespace does not show.
  credentials = {.processId = peer.pid > 0 ? peer.pid : -1, .userId = peer.uid};
  return true;
}

std::int64_t ownUserId() noexcept { return geteuid(); }

int sendSocketMessage(int fd, std::span<const std::byte> message, int attached) noexcept {
  iovec part{const_cast<std::byte*>(message.data()), message.size()};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  Control control;
  if (attached >= 0) {
    header.msg_control = control.bytes;
    header.msg_controllen = Control::kLength;
    cmsghdr* rights = CMSG_FIRSTHDR(&header);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = Control::kLength;
    std::memcpy(CMSG_DATA(rights), &attached, sizeof(attached));
  }
  while (sendmsg(fd, &header, MSG_DONTWAIT | MSG_NOSIGNAL) < 0) {
    if (errno != EINTR) return errno;
  }
  return 0;
}

SocketMessage receiveSocketMessage(int fd, std::span<std::byte> into) noexcept {
  SocketMessage message;
  iovec part{into.data(), into.size()};
  Control control;
  for (;;) {
    msghdr header{};
    header.msg_iov = &part;
    header.msg_iovlen = 1;
    header.msg_control = control.bytes;
    header.msg_controllen = Control::kLength;
    const ssize_t count = recvmsg(fd, &header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    // The reset of a peer that closed with unread messages comes before what it had sent us.
    if (count < 0 && (errno == EINTR || errno == ECONNRESET)) continue;
    using Kind = SocketMessage::Kind;
    if (count < 0) {
      message.kind = errno == EAGAIN ? Kind::kNothing : Kind::kEnd;
      return message;
    }
    message.attached = FileDescriptor(takeDescriptor(header));
    message.byteLength = static_cast<std::size_t>(count);
    message.kind = count == 0 ? Kind::kEnd : Kind::kMessage;
    if ((header.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0) message.kind = Kind::kTruncated;
    if ((header.msg_flags & MSG_CTRUNC) != 0 && !message.attached.valid()) {
      message.kind = Kind::kNoDescriptor;
    }
    return message;
  }
}

void endSocketWrites(int fd) noexcept { shutdown(fd, SHUT_WR); }

}  // namespace queuepair::os
