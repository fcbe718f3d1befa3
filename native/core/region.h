// Memory that operations may name: engine memory (a sealed memfd mapped over a SharedArrayBuffer's
// whole pages) or registered memory (a SharedArrayBuffer's own). JavaScript keeps the buffer alive
// for as long as the region exists.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/os/file_descriptor.h"

namespace queuepair {

enum Access : std::uint8_t {
  kLocalOnly = 0,
  kRemoteRead = 1,
  kRemoteWrite = 2,
  kRemoteAtomic = 4,
};

class Region {
 public:
  // Registered memory.
  Region(std::byte* data, std::uint64_t byteLength, std::uint8_t access) noexcept;
  // Engine memory: `memory` maps at `data`, `mappedBytes` whole pages.
  Region(std::byte* data, std::uint64_t byteLength, std::uint64_t mappedBytes, std::uint8_t access,
         os::FileDescriptor memory) noexcept;
  ~Region();  // engine memory: maps anonymous memory back, so that a stale view reads zeros
  Region(const Region&) = delete;
  Region& operator=(const Region&) = delete;

  [[nodiscard]] std::byte* data() const noexcept { return data_; }
  [[nodiscard]] std::uint64_t byteLength() const noexcept { return byteLength_; }
  [[nodiscard]] std::uint8_t access() const noexcept { return access_; }
  // The memfd, or -1: only such memory can be mapped by a peer.
  [[nodiscard]] int memoryFd() const noexcept { return memory_.get(); }
  [[nodiscard]] std::uint64_t mappedBytes() const noexcept { return mappedBytes_; }

  // Under the token: posted work that names this region. Release waits for zero.
  void retain() noexcept { ++references_; }
  void drop() noexcept { --references_; }
  [[nodiscard]] std::uint32_t references() const noexcept { return references_; }

  // Its place in the lane's table; set once, when it is entered there.
  std::uint32_t slot = 0;
  std::uint32_t generation = 0;

  // Release was asked for: new work may not name it. Written under the token and the table's lock,
  // so holding either is enough to read it.
  bool releasing = false;
  // Threads inside Lane::visitRegion(); under the table's lock.
  std::uint32_t visitors = 0;

 private:
  std::byte* data_;
  std::uint64_t byteLength_;
  std::uint64_t mappedBytes_ = 0;
  std::uint8_t access_;
  os::FileDescriptor memory_{};
  std::uint32_t references_ = 0;
};

}  // namespace queuepair
