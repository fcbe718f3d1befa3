#include "core/providers/shm/import_table.h"

#include <algorithm>

#include "core/os/sealed_memory.h"

namespace queuepair::shm {
namespace {

// Of a 128 TiB address space: a thousand connections may map it and leave half to the process.
constexpr std::uint64_t kMaxImportBytes = 64ULL << 30U;
// The last connections get little, but some.
constexpr std::uint32_t kBudgetShare = 64;

}  // namespace

ImportTable::ImportTable(ImportBudget& budget) noexcept
    : budget_(budget), countLimit_(std::min(kMaxImports, budget.left / kBudgetShare)) {
  budget_.left -= countLimit_;
}

ImportTable::~ImportTable() {
  for (const Import& import : imports_) {
    if (import.base != nullptr) os::unmapMemory(import.base, import.byteLength);
  }
  budget_.left += countLimit_;
}

std::uint64_t ImportTable::byteLimit() const noexcept { return kMaxImportBytes; }

ImportTable::AddResult ImportTable::add(std::uint32_t index, std::uint32_t generation,
                                        std::uint64_t byteLength, int fd) {
  if (index >= countLimit_ || byteLength > kMaxImportBytes - mappedBytes_) {
    return AddResult::kRefused;
  }
  if (index >= imports_.size()) imports_.resize(index + 1);
  Import& import = imports_[index];
  if (import.base != nullptr || !os::isMappable(fd, byteLength)) return AddResult::kRefused;
  import.base = os::mapMemory(fd, byteLength, false);
  if (import.base == nullptr) return AddResult::kNoMemory;
  import.byteLength = byteLength;
  import.generation = generation;
  mappedBytes_ += byteLength;
  return AddResult::kAdded;
}

bool ImportTable::remove(std::uint32_t index, std::uint32_t generation) noexcept {
  if (find(index, generation) == nullptr) return false;
  Import& import = imports_[index];
  os::unmapMemory(import.base, import.byteLength);
  mappedBytes_ -= import.byteLength;
  import = {};
  return true;
}

bool ImportTable::holds(const WireSegment& segment) const noexcept {
  return find(segment.exportIndex, segment.exportGeneration) != nullptr;
}

const std::byte* ImportTable::resolve(const WireSegment& segment) const noexcept {
  const Import* import = find(segment.exportIndex, segment.exportGeneration);
  if (import == nullptr || segment.offset > import->byteLength ||
      segment.length > import->byteLength - segment.offset) {
    return nullptr;
  }
  return import->base + segment.offset;
}

const ImportTable::Import* ImportTable::find(std::uint32_t index,
                                             std::uint32_t generation) const noexcept {
  if (index >= imports_.size()) return nullptr;
  const Import& import = imports_[index];
  return import.base != nullptr && import.generation == generation ? &import : nullptr;
}

}  // namespace queuepair::shm
