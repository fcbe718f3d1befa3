// Makes regions, and faults their pages in. What the binding needs of memory, so that it is tested
// without Node.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "core/fault.h"
#include "core/lane.h"
#include "core/object_table.h"
#include "core/region.h"
#include "core/status.h"

namespace queuepair {

// The bytes that allocateRegion() needs around `byteLength`: whole pages, wherever they begin.
std::uint64_t bytesToAllocate(std::uint64_t byteLength) noexcept;

// Engine memory: a fresh memfd over the first whole pages in `within`, which has at least
// bytesToAllocate(byteLength) bytes. Null with `failure` set, and then `within` is as before.
std::unique_ptr<Region> allocateRegion(std::span<std::byte> within, std::uint64_t byteLength,
                                       std::uint8_t access, FaultInjector& faults,
                                       Failure& failure);

// Registered memory: the bytes as they are.
std::unique_ptr<Region> registerRegion(std::span<std::byte> bytes, std::uint8_t access,
                                       FaultInjector& faults, Failure& failure);

// Blocking, any thread: makes every page of a region present and writable, without changing a byte.
// In slices, and ends between two of them once `stopping` is set: a worker inside cannot be joined.
Failure populateRegion(Lane& lane, Handle region, const std::atomic<bool>& stopping);

}  // namespace queuepair
