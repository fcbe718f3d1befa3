#include "core/region_memory.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "core/os/populate.h"
#include "core/os/sealed_memory.h"

namespace queuepair {
namespace {

// Some 4 ms of page faults: what a stop, and whoever else wants the region, waits for at most.
constexpr std::uint64_t kPopulateSlice = 16 << 20;

std::uint64_t roundUpToPages(std::uint64_t value) noexcept {
  return (value + os::pageBytes() - 1) & ~(os::pageBytes() - 1);
}

Failure outOfResources(int osError, const char* detail) {
  return {.fault = Fault::kOutOfResources,
          .osError = osError,
          .status = Status::kSuccess,
          .detail = detail};
}

bool failsOnPurpose(FaultInjector& faults, Failure& failure) {
  std::uint64_t value = 0;
  if (!faults.fires(FaultPoint::kRegistrationFails, value)) return false;
  failure = outOfResources(static_cast<int>(value), "a fault was injected");
  return true;
}

bool mayBeWrittenByPeers(std::uint8_t access) noexcept {
  return (access & (kRemoteWrite | kRemoteAtomic)) != 0;
}

// One slice; visitRegion() takes a plain function, so what it needs and finds lies here.
struct Slice {
  std::uint64_t offset = 0;
  std::uint64_t regionBytes = 0;
  int osError = 0;
};
thread_local Slice currentSlice;

void populateSlice(Region& region) {
  Slice& slice = currentSlice;
  slice.regionBytes = region.mappedBytes() != 0 ? region.mappedBytes() : region.byteLength();
  if (slice.offset >= slice.regionBytes) return;
  const std::uint64_t length = std::min(kPopulateSlice, slice.regionBytes - slice.offset);
  slice.osError =
      os::populateMemory(region.data() + slice.offset, length, region.memoryFd(), slice.offset);
}

}  // namespace

std::uint64_t bytesToAllocate(std::uint64_t byteLength) noexcept {
  return roundUpToPages(byteLength) + os::pageBytes() - 1;
}

std::unique_ptr<Region> allocateRegion(std::span<std::byte> within, std::uint64_t byteLength,
                                       std::uint8_t access, FaultInjector& faults,
                                       Failure& failure) {
  if (failsOnPurpose(faults, failure)) return nullptr;
  const std::uint64_t mappedBytes = roundUpToPages(byteLength);
  const auto start = reinterpret_cast<std::uintptr_t>(within.data());
  std::byte* const at = within.data() + (roundUpToPages(start) - start);

  os::FileDescriptor memory = os::createMemory("queuepair", mappedBytes);
  if (!memory.valid()) {
    failure = outOfResources(errno, "the system gives no shared memory");
    return nullptr;
  }
  const int fd = memory.get();
  if (os::mapMemory(fd, mappedBytes, true, at) == nullptr) {
    failure = outOfResources(errno, "the memory cannot be mapped");
    os::replaceWithAnonymous(at, mappedBytes);  // a failed fixed mapping may leave a hole
    return nullptr;
  }
  // From here on the region's end undoes the mapping.
  auto region = std::make_unique<Region>(at, byteLength, mappedBytes, access, std::move(memory));
  if (!os::sealMemory(fd, !mayBeWrittenByPeers(access))) {
    failure = outOfResources(errno, "the memory cannot be sealed");
    return nullptr;
  }
  return region;
}

std::unique_ptr<Region> registerRegion(std::span<std::byte> bytes, std::uint8_t access,
                                       FaultInjector& faults, Failure& failure) {
  if (failsOnPurpose(faults, failure)) return nullptr;
  return std::make_unique<Region>(bytes.data(), bytes.size(), access);
}

Failure populateRegion(Lane& lane, Handle region, const std::atomic<bool>& stopping) {
  Slice& slice = currentSlice;
  slice = {};
  do {
    if (stopping.load() || !lane.visitRegion(region, populateSlice)) {
      return {.fault = Fault::kClosedLocally,
              .osError = 0,
              .status = Status::kSuccess,
              .detail = "the region was closed meanwhile"};
    }
    if (slice.osError != 0) return outOfResources(slice.osError, "not all pages could be had");
    slice.offset += kPopulateSlice;
  } while (slice.offset < slice.regionBytes);
  return {};
}

}  // namespace queuepair
