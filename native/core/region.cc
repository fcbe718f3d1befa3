#include "core/region.h"

#include <utility>

#include "core/os/sealed_memory.h"

namespace queuepair {

Region::Region(std::byte* data, std::uint64_t byteLength, std::uint8_t access) noexcept
    : data_(data), byteLength_(byteLength), access_(access) {}

Region::Region(std::byte* data, std::uint64_t byteLength, std::uint64_t mappedBytes,
               std::uint8_t access, os::FileDescriptor memory) noexcept
    : data_(data),
      byteLength_(byteLength),
      mappedBytes_(mappedBytes),
      access_(access),
      memory_(std::move(memory)) {}

Region::~Region() {
  if (memory_.valid()) os::replaceWithAnonymous(data_, mappedBytes_);
}

}  // namespace queuepair
