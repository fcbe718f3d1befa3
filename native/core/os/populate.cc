#include "core/os/populate.h"

#include <fcntl.h>
#include <sys/mman.h>

#include <atomic>
#include <cerrno>

#include "core/os/sealed_memory.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23  // Linux 5.14; older headers lack it
#endif

namespace queuepair::os {
int populateByTouching(std::byte* at, std::uint64_t byteLength, int fd,
                       std::uint64_t fdOffset) noexcept {
  if (fd >= 0) {
    // Answers with an error where a touch of a page that cannot be had would raise SIGBUS.
    const auto offset = static_cast<off_t>(fdOffset);
    while (fallocate(fd, 0, offset, static_cast<off_t>(byteLength)) != 0) {
      if (errno != EINTR) return errno;
    }
  }
  for (std::uint64_t done = 0; done < byteLength; done += pageBytes()) {
    // A write access that stores what is there, or loses to another writer: either makes the page
    // ours.
    std::atomic_ref<unsigned char> byte(reinterpret_cast<unsigned char&>(at[done]));
    unsigned char value = byte.load(std::memory_order_relaxed);
    byte.compare_exchange_strong(value, value, std::memory_order_relaxed);
  }
  return 0;
}

int populateMemory(std::byte* at, std::uint64_t byteLength, int fd,
                   std::uint64_t fdOffset) noexcept {
  const std::uint64_t within = reinterpret_cast<std::uintptr_t>(at) & (pageBytes() - 1);
  at -= within;
  byteLength += within;
  while (madvise(at, byteLength, MADV_POPULATE_WRITE) != 0) {
    if (errno == EINVAL) return populateByTouching(at, byteLength, fd, fdOffset);
    if (errno != EINTR) return errno;
  }
  return 0;
}

}  // namespace queuepair::os
