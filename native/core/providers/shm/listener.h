// A listening socket, and the sockets accepted from it that have not yet sent a valid request.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <string>

#include "core/os/unix_socket.h"
#include "core/os/wait_set.h"
#include "core/provider.h"
#include "core/providers/shm/connector.h"

namespace queuepair::shm {

class SharedMemoryAdapter;

// One port space per user for all local addresses.
std::string socketName(std::uint16_t port);

class SharedMemoryListener final : public Listener, private os::ReadyHandler {
 public:
  SharedMemoryListener(SharedMemoryAdapter& adapter, Address at);
  ~SharedMemoryListener() override;

  // Binds; picks a port when it is 0.
  Failure open();
  [[nodiscard]] Address localAddress() const override { return at_; }

  bool progress(std::uint64_t nowNanoseconds);
  [[nodiscard]] bool hasNews() const noexcept;
  [[nodiscard]] std::uint64_t deadlineNanoseconds() const noexcept;

 private:
  // A socket that owes us a request.
  struct Handshake final : os::ReadyHandler {
    void onReady(bool readable, bool writable, bool hangup) override;

    os::FileDescriptor socket{};
    os::WaitId watch = 0;
    std::uint64_t deadline = 0;
    bool ready = true;  // most requests are there by the time of the accept
  };

  void onReady(bool readable, bool writable, bool hangup) override;
  Failure bindFreePort();
  bool acceptSome(std::uint64_t nowNanoseconds);
  void pauseAccepting(std::uint64_t nowNanoseconds);
  void startHandshake(os::FileDescriptor socket, std::uint64_t nowNanoseconds);
  void endHandshake(Handshake& handshake);
  bool deliverOne();
  std::unique_ptr<SharedMemoryConnector> readRequest(Handshake& handshake, bool& over);

  SharedMemoryAdapter& adapter_;
  Address at_;
  os::FileDescriptor socket_{};
  os::WaitId watch_ = 0;
  std::list<Handshake> handshakes_;  // oldest first
  std::uint64_t resumeAt_ = 0;       // accepting pauses until then
  bool ready_ = false;
};

}  // namespace queuepair::shm
