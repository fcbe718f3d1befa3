// The regions that a connection's peer may map. A region is exported before the first record that
// names it, and withdrawn when it is deregistered; an index is used again with a new generation.
#pragma once

#include <cstdint>
#include <vector>

#include "core/providers/shm/wire.h"
#include "core/region.h"
#include "core/work.h"

namespace queuepair::shm {

class ExportTable {
 public:
  // The peer's limits, from the handshake.
  void setLimits(std::uint32_t count, std::uint64_t byteLength) noexcept;

  // Fills the record's segments, exporting regions where that pays. False: the peer has not mapped
  // them all, or cannot; stage the message instead.
  bool describe(const WorkRequest& request, WireRecord& record, int socket);

  // The peer unmaps the region once the message is sent.
  void withdraw(const Region& region);
  // Sends what is withdrawn. False: the socket is full, call again.
  bool sendWithdrawals(int socket);
  [[nodiscard]] bool hasWithdrawals() const noexcept { return withdrawals_ > 0; }

 private:
  struct Export {
    const Region* region = nullptr;
    std::uint64_t byteLength = 0;
    std::uint32_t generation = 0;
    bool withdrawn = false;  // the message is not out yet; the index is not free
  };
  // The index, or -1.
  std::int64_t find(const Region& region) noexcept;
  std::int64_t add(const Region& region, int socket);
  std::int64_t freeIndex();

  std::vector<Export> exports_;
  std::uint32_t countLimit_ = 0;
  std::uint32_t withdrawals_ = 0;
  std::uint32_t lastFound_ = 0;
  std::uint64_t bytesLeft_ = 0;
};

}  // namespace queuepair::shm
