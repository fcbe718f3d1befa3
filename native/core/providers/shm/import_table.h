// The peer's memory that a connection has mapped, read-only. The peer picks index and generation
// within the limits it was told; what it sends beyond them is refused.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/providers/shm/wire.h"

namespace queuepair::shm {

// Mappings that an adapter may still make, shared among its connections.
struct ImportBudget {
  // A quarter of the 65,530 mappings that Linux allows a process by default.
  std::uint32_t left = 16 * 1024;
};

class ImportTable {
 public:
  explicit ImportTable(ImportBudget& budget) noexcept;
  ~ImportTable();
  ImportTable(const ImportTable&) = delete;
  ImportTable& operator=(const ImportTable&) = delete;

  // What the peer is told in the handshake.
  [[nodiscard]] std::uint32_t countLimit() const noexcept { return countLimit_; }
  [[nodiscard]] std::uint64_t byteLimit() const noexcept;

  enum class AddResult : std::uint8_t { kAdded, kRefused, kNoMemory };
  // Maps `fd`, which stays the caller's.
  AddResult add(std::uint32_t index, std::uint32_t generation, std::uint64_t byteLength, int fd);
  // False when there is no such import.
  bool remove(std::uint32_t index, std::uint32_t generation) noexcept;

  [[nodiscard]] bool holds(const WireSegment& segment) const noexcept;
  // Null unless the segment lies within its import.
  [[nodiscard]] const std::byte* resolve(const WireSegment& segment) const noexcept;

 private:
  struct Import {
    std::byte* base = nullptr;
    std::uint64_t byteLength = 0;
    std::uint32_t generation = 0;
  };
  [[nodiscard]] const Import* find(std::uint32_t index, std::uint32_t generation) const noexcept;

  ImportBudget& budget_;
  std::uint32_t countLimit_;
  std::uint64_t mappedBytes_ = 0;
  std::vector<Import> imports_;  // by index; as long as the highest index needs
};

}  // namespace queuepair::shm
