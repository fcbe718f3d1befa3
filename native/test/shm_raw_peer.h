// A peer made of bare system calls, which may say and send anything.
#pragma once

#include <cstring>
#include <span>
#include <vector>

#include "core/os/file_descriptor.h"
#include "core/os/sealed_memory.h"
#include "core/os/unix_socket.h"
#include "core/providers/shm/connection_memory.h"
#include "core/providers/shm/listener.h"
#include "core/providers/shm/message.h"

namespace shmtest {

using namespace queuepair;

struct RawPeer {
  RawPeer() = default;
  explicit RawPeer(std::uint16_t port) : socket(os::createSocket()) {
    connected = os::connectSocket(socket.get(), shm::socketName(port)) == 0;
  }

  /// A valid request for this geometry; the tests spoil it.
  static shm::Message requestMessage() {
    const shm::Geometry geometry = shm::Geometry::forDepth(16);
    shm::Message message;
    message.kind = shm::MessageKind::kConnect;
    message.recordCapacity = geometry.recordCapacity;
    message.stagingBytes = geometry.stagingBytes;
    message.importCount = 4;
    message.importBytes = 1 << 20;
    return message;
  }

  void sendRequest() {
    const os::FileDescriptor fd = memory.create(shm::Geometry::forDepth(16));
    send(requestMessage(), fd.get());
  }
  void send(const shm::Message& message, int fd = -1) const {
    shm::sendMessage(socket.get(), message, {}, fd);
  }
  void sendBytes(std::span<const std::byte> bytes, int fd = -1) const {
    os::sendSocketMessage(socket.get(), bytes, fd);
  }
  /// Two descriptors in one message.
  void sendTwo(const shm::Message& message, int first, int second) const;
  /// The kind of the next message, or 0 when there is none.
  [[nodiscard]] int receiveKind() const;
  /// The peer closed.
  [[nodiscard]] bool atEnd() const;

  os::FileDescriptor socket{};
  shm::ConnectionMemory memory{};
  bool connected = false;
};

/// Descriptors that must not be mapped, each with a reason to refuse it.
struct BadDescriptors {
  BadDescriptors(std::uint64_t byteLength);

  struct Case {
    const char* what;
    int fd;
  };
  std::vector<Case> cases;
  std::vector<os::FileDescriptor> owned;
};

}  // namespace shmtest
