// FaultPoint::kPeerRecordCorrupted: damages a record before it is sent, so that the peer's checks
// can be tested.
#pragma once

#include "core/fault.h"
#include "core/providers/shm/wire.h"

namespace queuepair::shm {

enum class DamagedField : std::uint8_t {
  kSequence,
  kKind,
  kFlags,
  kSegmentCount,
  kByteLength,
  kStagedStart,
  kExportIndex,
  kExportGeneration,
  kSegmentOffset,
  kSegmentLength,
  kCount,
};

inline void damage(WireRecord& record, std::uint64_t field) noexcept {
  constexpr std::uint64_t kFar = 1ULL << 62U;  // beyond every limit
  switch (static_cast<DamagedField>(field % static_cast<std::uint64_t>(DamagedField::kCount))) {
    case DamagedField::kSequence:
      record.sequence += 1;
      break;
    case DamagedField::kKind:
      record.kind = static_cast<RecordKind>(200);
      break;
    case DamagedField::kFlags:
      record.flags = 0xff;
      break;
    case DamagedField::kSegmentCount:
      record.segmentCount = 255;
      break;
    case DamagedField::kByteLength:
      record.byteLength = kFar;
      break;
    case DamagedField::kStagedStart:
      record.stagedStart += 1;
      break;
    case DamagedField::kExportIndex:
      record.segments[0].exportIndex = ~0U;
      break;
    case DamagedField::kExportGeneration:
      record.segments[0].exportGeneration += 1;
      break;
    case DamagedField::kSegmentOffset:
      record.segments[0].offset = kFar;
      break;
    case DamagedField::kSegmentLength:
      record.segments[0].length += 1;
      break;
    case DamagedField::kCount:
      break;
  }
}

inline void damageIfAsked(FaultInjector& faults, WireRecord& record) noexcept {
  std::uint64_t field = 0;
  if (faults.fires(FaultPoint::kPeerRecordCorrupted, field)) damage(record, field);
}

}  // namespace queuepair::shm
