#include "core/region_memory.h"

#include <fcntl.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <vector>

#include "core/os/populate.h"
#include "core/os/sealed_memory.h"
#include "test/check.h"

namespace {

using queuepair::Failure;
using queuepair::FaultInjector;
using queuepair::Region;
namespace os = queuepair::os;

constexpr std::uint64_t kBytes = 100'000;

// A buffer as JavaScript makes it: a page longer than the region, beginning anywhere.
struct Buffer {
  std::vector<std::byte> bytes = std::vector<std::byte>(queuepair::bytesToAllocate(kBytes) + 16);
  std::span<std::byte> view{bytes.data() + 16, bytes.size() - 16};
};

struct Allocation {
  Buffer buffer;
  FaultInjector faults;
  Failure failure;
  std::unique_ptr<Region> region;

  explicit Allocation(std::uint8_t access)
      : region(queuepair::allocateRegion(buffer.view, kBytes, access, faults, failure)) {}
};

std::size_t residentPages(const Region& region) {
  std::vector<unsigned char> pages(region.mappedBytes() / os::pageBytes());
  if (mincore(region.data(), region.mappedBytes(), pages.data()) != 0) return 0;
  return static_cast<std::size_t>(
      std::count_if(pages.begin(), pages.end(), [](auto page) { return (page & 1) != 0; }));
}

bool isWritableForOthers(const Region& region) {
  std::byte* at = os::mapMemory(region.memoryFd(), region.mappedBytes(), true);
  if (at != nullptr) os::unmapMemory(at, region.mappedBytes());
  return at != nullptr;
}

}  // namespace

TEST(engineMemoryLiesInTheBufferAndIsShared) {
  Allocation made(queuepair::kRemoteWrite);
  REQUIRE(made.region != nullptr);
  CHECK(made.region->data() >= made.buffer.view.data());
  CHECK(made.region->data() + made.region->mappedBytes() <=
        made.buffer.view.data() + made.buffer.view.size());
  CHECK_EQ(reinterpret_cast<std::uintptr_t>(made.region->data()) % os::pageBytes(), 0U);

  made.region->data()[kBytes - 1] = std::byte{7};
  std::byte* other = os::mapMemory(made.region->memoryFd(), made.region->mappedBytes(), false);
  REQUIRE(other != nullptr);
  CHECK(other[kBytes - 1] == std::byte{7});
  os::unmapMemory(other, made.region->mappedBytes());
}

TEST(engineMemoryMayBeMappedByPeersAsItsAccessSays) {
  const Allocation readable(queuepair::kRemoteRead);
  const Allocation writable(queuepair::kRemoteWrite);
  const Allocation atomic(queuepair::kRemoteAtomic);
  REQUIRE(readable.region != nullptr && writable.region != nullptr && atomic.region != nullptr);
  CHECK(os::isMappable(readable.region->memoryFd(), readable.region->mappedBytes()));
  CHECK(!isWritableForOthers(*readable.region));
  CHECK(isWritableForOthers(*writable.region));
  CHECK(isWritableForOthers(*atomic.region));
}

TEST(endOfEngineMemoryLeavesZerosThatMayBeWritten) {
  Allocation made(queuepair::kRemoteWrite);
  REQUIRE(made.region != nullptr);
  std::byte* const at = made.region->data();
  at[0] = std::byte{7};
  made.region.reset();
  CHECK(at[0] == std::byte{0});
  at[0] = std::byte{8};
  CHECK(at[0] == std::byte{8});
}

TEST(injectedFailureMakesNoRegion) {
  Buffer buffer;
  FaultInjector faults;
  faults.arm(queuepair::FaultPoint::kRegistrationFails, 0, 2, ENOMEM);
  Failure failure;
  CHECK(queuepair::allocateRegion(buffer.view, kBytes, 0, faults, failure) == nullptr);
  CHECK_EQ(failure.osError, ENOMEM);
  failure = {};
  CHECK(queuepair::registerRegion(buffer.view, 0, faults, failure) == nullptr);
  CHECK_EQ(failure.osError, ENOMEM);
  CHECK(queuepair::registerRegion(buffer.view, 0, faults, failure) != nullptr);
}

TEST(populatingMakesPagesPresentAndChangesNothing) {
  Allocation made(queuepair::kRemoteRead);
  REQUIRE(made.region != nullptr);
  const Region& region = *made.region;
  region.data()[os::pageBytes()] = std::byte{9};
  CHECK_EQ(residentPages(region), 1U);
  CHECK_EQ(os::populateMemory(region.data(), region.mappedBytes(), region.memoryFd(), 0), 0);
  CHECK_EQ(residentPages(region), region.mappedBytes() / os::pageBytes());
  CHECK(region.data()[os::pageBytes()] == std::byte{9});
}

TEST(populatingByTouchingDoesTheSame) {
  Allocation made(queuepair::kRemoteRead);
  REQUIRE(made.region != nullptr);
  const Region& region = *made.region;
  region.data()[os::pageBytes()] = std::byte{9};
  CHECK_EQ(os::populateByTouching(region.data(), region.mappedBytes(), region.memoryFd(), 0), 0);
  CHECK_EQ(residentPages(region), region.mappedBytes() / os::pageBytes());
  CHECK(region.data()[os::pageBytes()] == std::byte{9});
}

TEST(populatingReportsWhatIsNotMapped) {
  std::byte* at =
      os::mapMemory(os::createMemory("test", 4 * os::pageBytes()).get(), 4 * os::pageBytes(), true);
  REQUIRE(at != nullptr);
  os::unmapMemory(at, 4 * os::pageBytes());
  CHECK_EQ(os::populateMemory(at, 4 * os::pageBytes(), -1, 0), ENOMEM);
}

TEST(populatingBeginsInTheMiddleOfAPage) {
  std::vector<std::byte> bytes(3 * os::pageBytes() + 5);
  CHECK_EQ(os::populateMemory(bytes.data() + 5, 3 * os::pageBytes(), -1, 0), 0);
}
