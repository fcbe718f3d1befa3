// The shared memory of one connection: its geometry and one side's mapping of it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/os/file_descriptor.h"
#include "core/providers/shm/wire.h"

namespace queuepair::shm {

struct Geometry {
  std::uint32_t recordCapacity = 0;  // records per direction, a power of two
  std::uint32_t stagingBytes = 0;    // per direction, a power of two

  // For queues of this depth. A ring may be shorter than the queue: the rest waits in the queue.
  static Geometry forDepth(std::uint32_t depth) noexcept;
  [[nodiscard]] bool valid() const noexcept;
  [[nodiscard]] std::uint64_t sideBytes() const noexcept;
  [[nodiscard]] std::uint64_t byteLength() const noexcept { return 2 * sideBytes(); }
};

// What one side writes and the other reads.
struct Half {
  EndpointWords* words = nullptr;
  WireRecord* records = nullptr;
  std::byte* staging = nullptr;
};

class ConnectionMemory {
 public:
  ConnectionMemory() = default;
  ~ConnectionMemory();
  ConnectionMemory(const ConnectionMemory&) = delete;
  ConnectionMemory& operator=(const ConnectionMemory&) = delete;

  // Makes, maps and seals memory; the descriptor is for the peer. Invalid with errno set.
  os::FileDescriptor create(const Geometry& geometry) noexcept;
  // Maps the peer's. The geometry was validated. False: not such memory, or errno.
  bool map(int fd, const Geometry& geometry) noexcept;

  [[nodiscard]] bool mapped() const noexcept { return base_ != nullptr; }
  [[nodiscard]] const Geometry& geometry() const noexcept { return geometry_; }
  [[nodiscard]] Half half(std::uint32_t side) const noexcept;

 private:
  std::byte* base_ = nullptr;
  Geometry geometry_{};
};

}  // namespace queuepair::shm
