#include "core/providers/shm/connection_memory.h"

#include <algorithm>
#include <bit>

#include "core/os/sealed_memory.h"

namespace queuepair::shm {
namespace {

constexpr std::uint32_t kMinRecords = 16;    // two pages' worth for the smallest queues
constexpr std::uint32_t kMaxRecords = 1024;  // 128 KiB; more in flight than that hides no latency
// Enough for a producer and a consumer on two cores to run apart, little enough to stay in a core's
// second-level cache with everything else.
constexpr std::uint32_t kStagingBytes = 64 * 1024;
constexpr std::uint32_t kMinStagingBytes = 4 * 1024;
constexpr std::uint32_t kMaxStagingBytes = 1024 * 1024;

bool isPowerWithin(std::uint32_t value, std::uint32_t low, std::uint32_t high) noexcept {
  return std::has_single_bit(value) && value >= low && value <= high;
}

}  // namespace

Geometry Geometry::forDepth(std::uint32_t depth) noexcept {
  return {.recordCapacity = std::bit_ceil(std::clamp(depth, kMinRecords, kMaxRecords)),
          .stagingBytes = kStagingBytes};
}

bool Geometry::valid() const noexcept {
  return isPowerWithin(recordCapacity, kMinRecords, kMaxRecords) &&
         isPowerWithin(stagingBytes, kMinStagingBytes, kMaxStagingBytes);
}

std::uint64_t Geometry::sideBytes() const noexcept {
  return sizeof(EndpointWords) + recordCapacity * sizeof(WireRecord) + stagingBytes;
}

ConnectionMemory::~ConnectionMemory() {
  if (base_ != nullptr) os::unmapMemory(base_, geometry_.byteLength());
}

os::FileDescriptor ConnectionMemory::create(const Geometry& geometry) noexcept {
  os::FileDescriptor memory = os::createMemory("queuepair-connection", geometry.byteLength());
  if (!memory.valid()) return memory;
  if (!os::sealMemory(memory.get(), false) || !map(memory.get(), geometry)) memory.reset();
  return memory;
}

bool ConnectionMemory::map(int fd, const Geometry& geometry) noexcept {
  if (!os::isMappable(fd, geometry.byteLength())) return false;
  base_ = os::mapMemory(fd, geometry.byteLength(), true);
  geometry_ = geometry;
  return base_ != nullptr;
}

Half ConnectionMemory::half(std::uint32_t side) const noexcept {
  std::byte* at = base_ + side * geometry_.sideBytes();
  std::byte* records = at + sizeof(EndpointWords);
  return {.words = reinterpret_cast<EndpointWords*>(at),
          .records = reinterpret_cast<WireRecord*>(records),
          .staging = records + geometry_.recordCapacity * sizeof(WireRecord)};
}

}  // namespace queuepair::shm
