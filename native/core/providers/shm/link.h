// One side's hold on a connection: its socket, the shared memory, what is exported and imported,
// and the doorbell. The connector owns it; the queue pair's queues move messages through it.
#pragma once

#include <cstdint>

#include "core/os/file_descriptor.h"
#include "core/provider.h"
#include "core/providers/shm/connection_memory.h"
#include "core/providers/shm/export_table.h"
#include "core/providers/shm/import_table.h"

namespace queuepair::shm {

class LinkOwner {
 public:
  virtual ~LinkOwner() = default;
  virtual void readSocket() = 0;  // takes the messages that the peer has sent
  virtual void onPosted() = 0;    // there is new work to progress
  virtual void onPairDestroyed() = 0;
};

class Link {
 public:
  Link(LinkOwner& owner, ImportBudget& budget, FaultInjector& faults) noexcept
      : owner_(owner), faults_(faults), imports_(budget) {}

  // The memory's side of the connector is 0, that of the acceptor is 1.
  os::FileDescriptor createMemory(const Geometry& geometry) noexcept;
  bool mapMemory(int fd, const Geometry& geometry) noexcept;
  void adoptSocket(os::FileDescriptor socket) noexcept { socket_ = std::move(socket); }
  void closeSocket() noexcept { socket_.reset(); }

  [[nodiscard]] LinkOwner& owner() noexcept { return owner_; }
  [[nodiscard]] FaultInjector& faults() noexcept { return faults_; }
  [[nodiscard]] int socket() const noexcept { return socket_.get(); }
  [[nodiscard]] const Geometry& geometry() const noexcept { return memory_.geometry(); }
  [[nodiscard]] const Half& own() const noexcept { return own_; }
  [[nodiscard]] const Half& peer() const noexcept { return peer_; }
  [[nodiscard]] ExportTable& exports() noexcept { return exports_; }
  [[nodiscard]] const ExportTable& exports() const noexcept { return exports_; }
  [[nodiscard]] ImportTable& imports() noexcept { return imports_; }

  // The first failure is kept; the connector reports it.
  void fail(Fault fault, const char* detail, int osError = 0);
  void failProtocol(const char* detail) { fail(Fault::kProtocol, detail); }
  [[nodiscard]] const Failure& failure() const noexcept { return failure_; }

  // After changing own words; announce() then rings the peer if it sleeps, once for a batch.
  void touch() noexcept { touched_ = true; }
  void announce() noexcept;

  // Before looking at the peer's words: arm() compares with this.
  void look() noexcept { seen_ = peer_.words->published.load(std::memory_order_seq_cst); }
  // False, and not armed, when the peer published something since look().
  bool arm() noexcept;
  void disarm() noexcept;
  // A doorbell was read while armed, by somebody who steps for a poller that stays asleep: the peer
  // must ring again for what comes next. Before look().
  void rearm() noexcept;

  void setState(EndpointState state) noexcept;
  [[nodiscard]] EndpointState peerState() const noexcept;
  void endWrites() noexcept;  // the peer sees the end of the socket

 private:
  void storeArmed(std::uint32_t value) noexcept;

  LinkOwner& owner_;
  FaultInjector& faults_;
  os::FileDescriptor socket_{};
  ConnectionMemory memory_{};
  Half own_{};
  Half peer_{};
  ImportTable imports_;
  ExportTable exports_{};
  Failure failure_{};
  EndpointState state_ = EndpointState::kOpen;  // as it stands in the own words
  std::uint32_t published_ = 0;
  std::uint32_t seen_ = 0;
  std::uint32_t armed_ = 0;    // own armed word
  std::uint32_t rungFor_ = 0;  // the peer's armed word when it was last rung
  bool touched_ = false;
};

}  // namespace queuepair::shm
