#include "core/record.h"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "core/layout.h"
#include "core/region_table.h"

namespace queuepair {
namespace {

namespace at = layout::submission;
using Copy = std::array<std::byte, layout::kSubmissionBytes>;

template <typename T>
T field(const Copy& copy, std::size_t offset) noexcept {
  T value;
  std::memcpy(&value, copy.data() + offset, sizeof value);
  return value;
}

bool isAtomic(std::uint8_t opcode) noexcept {
  return opcode == static_cast<std::uint8_t>(Opcode::kFetchAdd) ||
         opcode == static_cast<std::uint8_t>(Opcode::kCompareSwap);
}

// Most records end with their first line; the others' further lines are not touched without need.
void copyOnce(const std::byte* from, Copy& copy) noexcept {
  std::memcpy(copy.data(), from, layout::kLine);
  // The compiler may not read the shared bytes a second time in place of the copy.
  std::atomic_signal_fence(std::memory_order_seq_cst);
  if (field<std::uint8_t>(copy, at::kSegmentCountAt) > 1 ||
      isAtomic(field<std::uint8_t>(copy, at::kOpcodeAt))) {
    std::memcpy(copy.data() + layout::kLine, from + layout::kLine, copy.size() - layout::kLine);
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }
}

// What may be asked of this provider. Flush is ours: every provider has it.
bool isSupported(Opcode opcode, const Capabilities& capabilities) noexcept {
  switch (opcode) {
    case Opcode::kRead:
      return capabilities.read;
    case Opcode::kWrite:
      return capabilities.write;
    case Opcode::kFetchAdd:
    case Opcode::kCompareSwap:
      return capabilities.atomics;
    case Opcode::kSend:
    case Opcode::kReceive:
    case Opcode::kFlush:
      return true;
  }
  return false;
}

bool carriesImmediate(Opcode opcode) noexcept {
  return opcode == Opcode::kSend || opcode == Opcode::kWrite;
}

// An atomic works on eight bytes, and its old value comes with the completion, so a place for it is
// optional. A flush moves nothing.
bool lengthFits(const WorkRequest& request, const Limits& limits) noexcept {
  switch (request.opcode) {
    case Opcode::kSend:
    case Opcode::kReceive:
      return request.byteLength <= limits.maxMessageBytes;
    case Opcode::kFetchAdd:
    case Opcode::kCompareSwap:
      return request.byteLength == 0 || request.byteLength == 8;
    case Opcode::kFlush:
      return request.byteLength == 0;
    case Opcode::kRead:
    case Opcode::kWrite:
      return true;  // the other end checks, and the region bounds this one
  }
  return false;
}

Status resolveSegment(const RecordSegment& from, const RegionTable& regions,
                      Segment& segment) noexcept {
  Region* region = regions.find(from.region);
  if (region == nullptr || region->releasing) return Status::kLocalProtection;
  const std::uint64_t end = region->byteLength();
  if (from.offset > end || from.length > end - from.offset) return Status::kLocalLength;
  segment = {.region = region,
             .address = region->data() + from.offset,
             .offset = from.offset,
             .length = from.length};
  return Status::kSuccess;
}

Status resolveSegments(const SubmissionRecord& record, const RecordRules& rules,
                       WorkRequest& request) noexcept {
  const std::size_t most = std::min<std::size_t>(kMaxSegments, rules.limits.maxSegments);
  if (record.segmentCount > most) return Status::kLocalLength;
  request.byteLength = 0;
  for (std::size_t index = 0; index < record.segmentCount; ++index) {
    Segment& segment = request.segments[index];
    const Status status = resolveSegment(record.segments[index], rules.regions, segment);
    if (status != Status::kSuccess) return status;
    request.byteLength += segment.length;  // four lengths of mapped memory cannot overflow
  }
  return Status::kSuccess;
}

}  // namespace

void readRecord(const std::byte* from, SubmissionRecord& record) noexcept {
  Copy copy;
  copyOnce(from, copy);
  record.opcode = field<std::uint8_t>(copy, at::kOpcodeAt);
  record.flags = field<std::uint8_t>(copy, at::kFlagsAt);
  record.segmentCount = field<std::uint8_t>(copy, at::kSegmentCountAt);
  record.lane = field<std::uint8_t>(copy, at::kLaneAt);
  record.connection = {field<std::uint32_t>(copy, at::kConnectionSlotAt),
                       field<std::uint32_t>(copy, at::kConnectionGenerationAt)};
  record.operationSlot = field<std::uint32_t>(copy, at::kOperationSlotAt);
  record.operationGeneration = field<std::uint32_t>(copy, at::kOperationGenerationAt);
  record.immediate = field<std::uint32_t>(copy, at::kImmediateAt);
  const std::size_t segments = std::min<std::size_t>(record.segmentCount, kMaxSegments);
  for (std::size_t index = 0; index < segments; ++index) {
    const std::size_t base = at::kSegmentAt[index];
    record.segments[index] = {
        {field<std::uint32_t>(copy, base), field<std::uint32_t>(copy, base + 4)},
        field<std::uint64_t>(copy, base + 8),
        field<std::uint64_t>(copy, base + 16)};
  }
  record.remoteSlot = field<std::uint32_t>(copy, at::kRemoteSlotAt);
  record.remoteGeneration = field<std::uint32_t>(copy, at::kRemoteGenerationAt);
  record.remoteOffset = field<std::uint64_t>(copy, at::kRemoteOffsetAt);
  if (!isAtomic(record.opcode)) return;
  record.operand = field<std::uint64_t>(copy, at::kOperandAt);
  record.swap = field<std::uint64_t>(copy, at::kSwapAt);
}

Status resolveRecord(const SubmissionRecord& record, const RecordRules& rules,
                     WorkRequest& request) noexcept {
  request.id = operationId(record.operationSlot, record.operationGeneration);
  request.opcode = static_cast<Opcode>(record.opcode);
  if (!isSupported(request.opcode, rules.capabilities)) return Status::kLocalQueuePairOperation;
  request.flags = record.flags & (kSignaled | kImmediate);
  if (!carriesImmediate(request.opcode)) request.flags &= kSignaled;
  if ((request.flags & kImmediate) != 0 && !rules.capabilities.immediate) {
    return Status::kLocalQueuePairOperation;
  }
  request.immediate = record.immediate;
  request.segmentCount = record.segmentCount;
  request.remoteSlot = record.remoteSlot;
  request.remoteGeneration = record.remoteGeneration;
  request.remoteOffset = record.remoteOffset;
  request.operand = record.operand;
  request.swap = record.swap;
  const Status status = resolveSegments(record, rules, request);
  if (status != Status::kSuccess) return status;
  return lengthFits(request, rules.limits) ? Status::kSuccess : Status::kLocalLength;
}

}  // namespace queuepair
