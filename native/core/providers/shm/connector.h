// A connection's life: the handshake on the socket, the data path while it is up, its end.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/os/unix_socket.h"
#include "core/os/wait_set.h"
#include "core/provider.h"
#include "core/providers/shm/link.h"
#include "core/providers/shm/queue_pair.h"

namespace queuepair::shm {

class SharedMemoryAdapter;

class SharedMemoryConnector final : public Connector, private os::ReadyHandler, private LinkOwner {
 public:
  explicit SharedMemoryConnector(SharedMemoryAdapter& adapter);
  ~SharedMemoryConnector() override;

  ControlResult connect(QueuePair& pair, const Address& to,
                        std::span<const std::byte> privateData) override;
  ControlResult accept(QueuePair& pair, std::span<const std::byte> privateData) override;
  ControlResult reject(std::span<const std::byte> privateData) override;
  ControlResult disconnect() override;
  [[nodiscard]] Peer peer() const override { return peer_; }
  [[nodiscard]] Address localAddress() const override { return local_; }
  [[nodiscard]] std::span<const std::byte> privateData() const override { return privateData_; }

  // --- the listener's: takes over a socket on which a valid request came. False: the memory that
  // came with it will not do, or there is none to be had.
  bool adoptRequest(os::FileDescriptor socket, const Message& request, int memory,
                    std::span<const std::byte> privateData, Peer peer, Address local);
  void sendReject(RejectReason reason, std::span<const std::byte> privateData);

  // --- the adapter's ---
  bool progress(std::uint64_t nowNanoseconds);
  [[nodiscard]] std::uint64_t deadlineNanoseconds() const noexcept { return retryAt_; }
  // Whether progress() must go on being called without any event.
  [[nodiscard]] bool needsPolling() const noexcept;
  [[nodiscard]] bool isQuiet() const noexcept;  // for many rounds
  // Once armed it may be left alone until the peer rings.
  [[nodiscard]] bool mayRest() const noexcept;
  bool arm() noexcept;
  void disarm() noexcept;
  void withdraw(const Region& region);
  bool active = false;  // in the adapter's list of those that are polled

 private:
  enum class State : std::uint8_t {
    kIdle,
    kConnecting,  // the listener's backlog is full: again soon
    kRequesting,  // the request is out
    kRequested,   // a request, not answered yet
    kAccepting,   // the acceptance is out
    kEstablished,
    kEnded,
  };

  // LinkOwner and ReadyHandler
  void readSocket() override;
  void onPosted() override;
  void onPairDestroyed() override { pair_ = nullptr; }
  void onReady(bool readable, bool writable, bool hangup) override;

  Failure tryConnect(std::uint64_t nowNanoseconds);
  Failure sendRequest();
  bool watchSocket();
  void unwatchSocket();
  void bind(QueuePair& pair);
  int send(const Message& message, std::span<const std::byte> privateData,
           int attached = -1) noexcept;

  void onMessage(std::span<const std::byte> bytes, int attached);
  void onAccepted(const Message& message, std::span<const std::byte> privateData);
  void onRejected(const Message& message, std::span<const std::byte> privateData);
  void onExport(const Message& message, int attached);
  void onUnexport(const Message& message);
  void establish();
  void onSocketEnd();
  Failure endOfSocket() const;

  bool progressData();
  void sendWithdrawals();
  bool report();

  SharedMemoryAdapter& adapter_;
  Link link_;
  SharedMemoryQueuePair* pair_ = nullptr;
  State state_ = State::kIdle;
  Peer peer_{};
  Address local_{};
  std::vector<std::byte> privateData_;  // until the request is out: ours; afterwards the peer's
  os::WaitId watch_ = 0;
  std::uint64_t retryAt_ = 0;
  std::uint32_t quietRounds_ = 0;
  bool quiet_ = false;  // the last look at the data path found nothing to do
  bool socketReady_ = false;
  bool socketEnded_ = false;
  bool waitsForSpace_ = false;  // withdrawals wait for the socket
  bool establishedUnreported_ = false;
  bool disconnecting_ = false;
};

}  // namespace queuepair::shm
