// Anonymous shared memory that cannot change its size once sealed, so that a mapping of it never
// faults whatever the process at its other end does.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/os/file_descriptor.h"

namespace queuepair::os {

std::uint64_t pageBytes() noexcept;

// `byteLength` is rounded up to pages. Sealed against shrinking and growing but not yet against
// further seals. Invalid with errno set when the kernel refuses.
FileDescriptor createMemory(const char* name, std::uint64_t byteLength) noexcept;

// Adds the last seals; with `readOnlyForOthers` every later mapping is read-only (the ones that
// exist stay as they are). False with errno set.
bool sealMemory(int fd, bool readOnlyForOthers) noexcept;

// Maps `byteLength` bytes shared; at `fixedAt` over what is there when it is not null. Null with
// errno.
std::byte* mapMemory(int fd, std::uint64_t byteLength, bool writable,
                     std::byte* fixedAt = nullptr) noexcept;
void unmapMemory(std::byte* at, std::uint64_t byteLength) noexcept;
// Puts fresh anonymous memory over a fixed mapping: reads zeros, never faults.
bool replaceWithAnonymous(std::byte* at, std::uint64_t byteLength) noexcept;

// Whether a descriptor from a peer may be mapped: a sealed (SHRINK, GROW, SEAL) file on tmpfs of at
// least `byteLength` bytes. Looks only; never reads or writes it. Huge pages will not do, for a
// reason given there.
bool isMappable(int fd, std::uint64_t byteLength) noexcept;

}  // namespace queuepair::os
