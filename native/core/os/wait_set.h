// What the poller parks on: descriptors that providers registered, and a doorbell that any thread
// may ring. Waiting needs no token; dispatching does, so readiness is collected first and handed to
// the handlers afterwards, and a handler that was removed in between is skipped.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <vector>

#include "core/os/file_descriptor.h"

namespace queuepair::os {

class ReadyHandler {
 public:
  virtual ~ReadyHandler() = default;
  // Under the token. `hangup`: the other end is gone (there may still be data to read).
  virtual void onReady(bool readable, bool writable, bool hangup) = 0;
};

// Names a registration; 0 names none. Never reused within a wait set.
using WaitId = std::uint64_t;

class WaitSet {
 public:
  WaitSet();  // valid() says whether the kernel gave us the descriptors
  [[nodiscard]] bool valid() const noexcept;

  // Under the token. Level-triggered. Returns 0 and sets errno when the kernel refuses.
  WaitId add(int fd, bool readable, bool writable, ReadyHandler* handler);
  void change(WaitId id, bool readable, bool writable);
  void remove(WaitId id);  // before the descriptor is closed and the handler destroyed

  // Any thread. Makes the present or the next wait return at once.
  void ring() noexcept;

  // The poller's thread, without the token: waits at most `timeoutMs` (0: only looks) and keeps
  // what is ready. True when anything is ready or the doorbell rang. Rings are consumed.
  bool wait(int timeoutMs) noexcept;
  // Under the token: calls the handlers of what wait() kept. Returns how many it called.
  std::uint32_t dispatch();

  // An owner's event loop may watch this descriptor in place of a second wake.
  [[nodiscard]] int fd() const noexcept { return epoll_.get(); }

 private:
  struct Entry {
    WaitId id = 0;
    int fd = -1;
    ReadyHandler* handler = nullptr;
  };
  struct Ready {
    WaitId id;
    std::uint32_t events;
  };
  Entry* find(WaitId id) noexcept;

  FileDescriptor epoll_;
  FileDescriptor doorbell_;
  std::vector<Entry> entries_;  // indexed by the low half of the id
  std::vector<std::uint32_t> free_;
  std::vector<Ready> ready_;        // filled by wait(), emptied by dispatch()
  std::vector<Ready> dispatching_;  // under the token; a member to keep its storage
  std::mutex readyMutex_;
  std::atomic<bool> anyReady_{false};  // spares the steps that have nothing to dispatch the lock
  std::uint32_t nextGeneration_ = 1;
};

}  // namespace queuepair::os
