// A submission record as it came: copied, taken apart, nothing in it believed yet.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "core/object_table.h"
#include "core/provider.h"
#include "core/status.h"
#include "core/work.h"

namespace queuepair {

class RegionTable;

struct RecordSegment {
  Handle region{};
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
};

struct SubmissionRecord {
  std::uint8_t opcode = 0;
  std::uint8_t flags = 0;
  std::uint8_t segmentCount = 0;
  std::uint8_t lane = 0;
  Handle connection{};
  std::uint32_t operationSlot = 0;
  std::uint32_t operationGeneration = 0;
  std::uint32_t immediate = 0;
  std::array<RecordSegment, kMaxSegments> segments{};  // set: the first segmentCount, at most
  std::uint32_t remoteSlot = 0;
  std::uint32_t remoteGeneration = 0;
  std::uint64_t remoteOffset = 0;
  std::uint64_t operand = 0;  // set: for atomics
  std::uint64_t swap = 0;
};

// Copies each byte it needs once, and looks at the copy only.
void readRecord(const std::byte* at, SubmissionRecord& record) noexcept;

// What a record is held against.
struct RecordRules {
  const RegionTable& regions;
  const Capabilities& capabilities;
  const Limits& limits;
};

// Makes the work request that the record describes: opcode, rights of the provider, every segment
// against its region. kSuccess, or why it is refused; `request` is then not to be used. The op slot
// and the connection are the caller's to check.
Status resolveRecord(const SubmissionRecord& record, const RecordRules& rules,
                     WorkRequest& request) noexcept;

inline std::uint64_t operationId(std::uint32_t slot, std::uint32_t generation) noexcept {
  return (std::uint64_t{generation} << 32) | slot;
}
inline std::uint32_t operationSlot(std::uint64_t id) noexcept {
  return static_cast<std::uint32_t>(id);
}
inline std::uint32_t operationGeneration(std::uint64_t id) noexcept {
  return static_cast<std::uint32_t>(id >> 32);
}

}  // namespace queuepair
