#include "core/operation_table.h"

#include <algorithm>
#include <type_traits>

namespace queuepair {

static_assert(std::is_trivially_destructible_v<Operation> &&
              std::is_trivially_default_constructible_v<Operation>);

// Zeroed pages straight from the kernel: slots that are never used cost address space only.
OperationTable::OperationTable(std::uint32_t capacity) noexcept
    : capacity_(capacity),
      entries_(static_cast<Operation*>(std::calloc(capacity, sizeof(Operation)))) {}

Operation& OperationTable::begin(const WorkRequest& request, Connection& connection) noexcept {
  const std::uint32_t slot = operationSlot(request.id);
  Operation& entry = entries_[slot];
  entry.connection = &connection;
  entry.generation = operationGeneration(request.id);
  entry.opcode = request.opcode;
  entry.regionCount = request.segmentCount;
  entry.active = true;
  entry.posted = false;
  for (std::size_t index = 0; index < request.segmentCount; ++index) {
    entry.regions[index] = request.segments[index].region;
    entry.regions[index]->retain();
  }
  used_ = std::max(used_, slot + 1);
  ++active_;
  return entry;
}

void OperationTable::end(Operation& operation) noexcept {
  for (std::size_t index = 0; index < operation.regionCount; ++index) {
    operation.regions[index]->drop();
  }
  operation.active = false;
  --active_;
}

}  // namespace queuepair
