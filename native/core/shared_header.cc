#include "core/shared_header.h"

#include <bit>

namespace queuepair {
namespace {

// Bounds the operation table; far above what one thread can keep in flight.
constexpr std::uint32_t kMaxCapacity = 1U << 20;
// A record's lane is one byte.
constexpr std::uint32_t kMaxLanes = 256;

bool capacityFits(std::uint32_t capacity) noexcept {
  return std::has_single_bit(capacity) && capacity <= kMaxCapacity;
}

bool ringFits(std::size_t total, std::uint32_t at, std::uint32_t capacity,
              std::size_t recordBytes) noexcept {
  const std::uint64_t end = at + std::uint64_t{capacity} * recordBytes;
  return at >= layout::kHeaderBytes && at % layout::kLine == 0 && end <= total;
}

bool overlap(const Geometry& geometry) noexcept {
  const std::uint64_t submissions = geometry.submissionRingAt;
  const std::uint64_t completions = geometry.completionRingAt;
  const std::uint64_t submissionsEnd =
      submissions + std::uint64_t{geometry.submissionCapacity} * layout::kSubmissionBytes;
  const std::uint64_t completionsEnd =
      completions + std::uint64_t{geometry.completionCapacity} * layout::kCompletionBytes;
  return submissions < completionsEnd && completions < submissionsEnd;
}

}  // namespace

bool readGeometry(std::span<std::byte> shared, Geometry& geometry, const char*& detail) noexcept {
  detail = "the lane's memory is too small or not aligned";
  const auto address = reinterpret_cast<std::uintptr_t>(shared.data());
  if (shared.size() < layout::kHeaderBytes || address % alignof(std::uint64_t) != 0) return false;
  const SharedHeader header(shared.data());
  detail = "the lane's memory has another layout";
  if (header.load(layout::kMagicAt) != layout::kMagic) return false;
  if (header.load(layout::kVersionAt) != layout::kVersion) return false;
  geometry = {.laneIndex = header.load(layout::kLaneIndexAt),
              .submissionCapacity = header.load(layout::kSubmissionCapacityAt),
              .completionCapacity = header.load(layout::kCompletionCapacityAt),
              .submissionRingAt = header.load(layout::kSubmissionRingAt),
              .completionRingAt = header.load(layout::kCompletionRingAt)};
  detail = "the lane's rings do not fit its memory";
  return geometry.laneIndex < kMaxLanes && capacityFits(geometry.submissionCapacity) &&
         capacityFits(geometry.completionCapacity) &&
         ringFits(shared.size(), geometry.submissionRingAt, geometry.submissionCapacity,
                  layout::kSubmissionBytes) &&
         ringFits(shared.size(), geometry.completionRingAt, geometry.completionCapacity,
                  layout::kCompletionBytes) &&
         !overlap(geometry);
}

}  // namespace queuepair
