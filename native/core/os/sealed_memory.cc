#include "core/os/sealed_memory.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <cerrno>

namespace queuepair::os {
namespace {

// In Linux since 6.3; systems with vm.memfd_noexec=2 refuse memory without it.
constexpr unsigned kNoExecSeal = 0x0008U;
constexpr int kSizeSeals = F_SEAL_SHRINK | F_SEAL_GROW;

int createDescriptor(const char* name) noexcept {
  const int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING | kNoExecSeal);
  if (fd >= 0 || errno != EINVAL) return fd;
  return memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);  // an older kernel
}

}  // namespace

std::uint64_t pageBytes() noexcept {
  static const auto kBytes = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  return kBytes;
}

FileDescriptor createMemory(const char* name, std::uint64_t byteLength) noexcept {
  const std::uint64_t rounded = (byteLength + pageBytes() - 1) / pageBytes() * pageBytes();
  FileDescriptor memory(createDescriptor(name));
  if (!memory.valid()) return memory;
  if (rounded < byteLength || ftruncate(memory.get(), static_cast<off_t>(rounded)) != 0 ||
      fcntl(memory.get(), F_ADD_SEALS, kSizeSeals) != 0) {
    const int error = rounded < byteLength ? EINVAL : errno;
    memory.reset();
    errno = error;
  }
  return memory;
}

bool sealMemory(int fd, bool readOnlyForOthers) noexcept {
  const int seals = F_SEAL_SEAL | (readOnlyForOthers ? F_SEAL_FUTURE_WRITE : 0);
  return fcntl(fd, F_ADD_SEALS, seals) == 0;
}

std::byte* mapMemory(int fd, std::uint64_t byteLength, bool writable, std::byte* fixedAt) noexcept {
  const int protection = PROT_READ | (writable ? PROT_WRITE : 0);
  const int flags = MAP_SHARED | (fixedAt != nullptr ? MAP_FIXED : 0);
  void* at = mmap(fixedAt, byteLength, protection, flags, fd, 0);
  return at == MAP_FAILED ? nullptr : static_cast<std::byte*>(at);
}

void unmapMemory(std::byte* at, std::uint64_t byteLength) noexcept { munmap(at, byteLength); }

bool replaceWithAnonymous(std::byte* at, std::uint64_t byteLength) noexcept {
  const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED;
  return mmap(at, byteLength, PROT_READ | PROT_WRITE, flags, -1, 0) != MAP_FAILED;
}

bool isMappable(int fd, std::uint64_t byteLength) noexcept {
  constexpr int kRequired = kSizeSeals | F_SEAL_SEAL;
  const int seals = fcntl(fd, F_GET_SEALS);
  if (seals < 0 || (seals & kRequired) != kRequired) return false;
  // Huge pages are left out on purpose: their owner can punch them out again, and a later access
  // raises SIGBUS when the system's pool is empty. A hole in tmpfs reads as zeros.
  struct statfs system {};
  if (fstatfs(fd, &system) != 0 || system.f_type != TMPFS_MAGIC) return false;
  struct stat file {};
  if (fstat(fd, &file) != 0 || !S_ISREG(file.st_mode) || file.st_size < 0) return false;
  return byteLength > 0 && static_cast<std::uint64_t>(file.st_size) >= byteLength;
}

}  // namespace queuepair::os
