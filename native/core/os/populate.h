// Faulting pages in ahead of use.
#pragma once

#include <cstddef>
#include <cstdint>

namespace queuepair::os {

// Makes the pages that hold these bytes present and writable and changes no byte, whoever else
// writes them meanwhile. `fd` is the memfd behind the mapping, which begins at `fdOffset` of it, or
// -1. 0, or an errno: a page that cannot be had is an error here, not a signal later.
int populateMemory(std::byte* at, std::uint64_t byteLength, int fd,
                   std::uint64_t fdOffset) noexcept;

// How it does so on Linux before 5.14.
int populateByTouching(std::byte* at, std::uint64_t byteLength, int fd,
                       std::uint64_t fdOffset) noexcept;

}  // namespace queuepair::os
