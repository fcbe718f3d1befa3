#include "test/shm_raw_peer.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>

namespace shmtest {
namespace {

os::FileDescriptor memoryFile(std::uint64_t byteLength, int seals) {
  os::FileDescriptor fd(memfd_create("queuepair-bad", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (ftruncate(fd.get(), static_cast<off_t>(byteLength)) != 0) fd.reset();
  if (seals != 0) fcntl(fd.get(), F_ADD_SEALS, seals);
  return fd;
}

}  // namespace

void RawPeer::sendTwo(const shm::Message& message, int first, int second) const {
  iovec part{const_cast<shm::Message*>(&message), sizeof(message)};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(2 * sizeof(int))> control{};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  header.msg_control = control.data();
  header.msg_controllen = control.size();
  cmsghdr* rights = CMSG_FIRSTHDR(&header);
  rights->cmsg_level = SOL_SOCKET;
  rights->cmsg_type = SCM_RIGHTS;
  rights->cmsg_len = CMSG_LEN(2 * sizeof(int));
  const std::array<int, 2> fds{first, second};
  std::memcpy(CMSG_DATA(rights), fds.data(), sizeof(fds));
  sendmsg(socket.get(), &header, MSG_DONTWAIT | MSG_NOSIGNAL);
}

int RawPeer::receiveKind() const {
  std::array<std::byte, shm::kMaxMessageBytes> bytes{};
  for (;;) {
    const os::SocketMessage message = os::receiveSocketMessage(socket.get(), bytes);
    if (message.kind != os::SocketMessage::Kind::kMessage) return 0;
    if (message.byteLength == 1) continue;
    const auto parsed = shm::parseMessage(std::span(bytes).first(message.byteLength));
    return parsed.valid ? static_cast<int>(parsed.header.kind) : -1;
  }
}

bool RawPeer::atEnd() const {
  std::array<std::byte, shm::kMaxMessageBytes> bytes{};
  for (;;) {
    const os::SocketMessage message = os::receiveSocketMessage(socket.get(), bytes);
    if (message.kind == os::SocketMessage::Kind::kMessage) continue;
    return message.kind == os::SocketMessage::Kind::kEnd;
  }
}

BadDescriptors::BadDescriptors(std::uint64_t byteLength) {
  const auto add = [&](const char* what, os::FileDescriptor fd) {
    cases.push_back({what, fd.get()});
    owned.push_back(std::move(fd));
  };
  constexpr int kAll = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
  add("not sealed", memoryFile(byteLength, 0));
  add("may shrink", memoryFile(byteLength, F_SEAL_GROW | F_SEAL_SEAL));
  add("may be sealed further", memoryFile(byteLength, F_SEAL_SHRINK | F_SEAL_GROW));
  add("too short", memoryFile(byteLength - 1, kAll));
  add("empty", memoryFile(0, kAll));
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) == 0) {
    add("a pipe", os::FileDescriptor(ends[0]));
    owned.emplace_back(ends[1]);
  }
  add("a file", os::FileDescriptor(open("/proc/self/exe", O_RDONLY | O_CLOEXEC)));
  add("a device", os::FileDescriptor(open("/dev/zero", O_RDWR | O_CLOEXEC)));
  add("a socket", os::createSocket());
  add("a path", os::FileDescriptor(open("/tmp", O_PATH | O_CLOEXEC)));
  cases.push_back({"none", -1});
}

}  // namespace shmtest
