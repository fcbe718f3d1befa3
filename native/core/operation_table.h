// What is in flight: one entry for each op slot of the owner. An entry ends exactly once, with the
// completion record of its operation.
#pragma once

#include <array>
#include <cstdint>
#include <cstdlib>
#include <memory>

#include "core/record.h"
#include "core/region.h"
#include "core/work.h"

namespace queuepair {

class Connection;

struct Operation {
  Connection* connection;
  std::array<Region*, kMaxSegments> regions;
  std::uint32_t generation;
  Opcode opcode;
  std::uint8_t regionCount;
  bool active;
  bool posted;  // with the provider; else it waits in its connection
};

class OperationTable {
 public:
  explicit OperationTable(std::uint32_t capacity) noexcept;
  [[nodiscard]] bool valid() const noexcept { return entries_ != nullptr; }

  [[nodiscard]] bool isFree(std::uint32_t slot) const noexcept {
    return slot < capacity_ && !entries_[slot].active;
  }
  // The slot is free. Retains the regions that the request names.
  Operation& begin(const WorkRequest& request, Connection& connection) noexcept;
  // Null: not in flight, whoever says so.
  [[nodiscard]] Operation* find(std::uint64_t id) noexcept {
    const std::uint32_t slot = operationSlot(id);
    if (slot >= capacity_) return nullptr;
    Operation& entry = entries_[slot];
    return entry.active && entry.generation == operationGeneration(id) ? &entry : nullptr;
  }
  // Drops the regions; the slot is free again.
  void end(Operation& operation) noexcept;

  [[nodiscard]] std::uint32_t active() const noexcept { return active_; }
  template <typename Visit>
  void forEachActive(Visit visit) {
    for (std::uint32_t slot = 0; slot < used_ && active_ > 0; ++slot) {
      Operation& entry = entries_[slot];
      if (entry.active) visit(operationId(slot, entry.generation), entry);
    }
  }

 private:
  struct Free {
    void operator()(Operation* entries) const noexcept { std::free(entries); }
  };
  std::uint32_t capacity_;
  std::uint32_t used_ = 0;  // no slot from here on was ever active
  std::uint32_t active_ = 0;
  std::unique_ptr<Operation[], Free> entries_;
};

}  // namespace queuepair
