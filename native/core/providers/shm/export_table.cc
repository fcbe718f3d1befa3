#include "core/providers/shm/export_table.h"

#include <algorithm>
#include <cerrno>

#include "core/os/sealed_memory.h"
#include "core/providers/shm/message.h"

namespace queuepair::shm {
void ExportTable::setLimits(std::uint32_t count, std::uint64_t byteLength) noexcept {
  countLimit_ = std::min(count, kMaxImports);
  bytesLeft_ = byteLength;
}

bool ExportTable::describe(const WorkRequest& request, WireRecord& record, int socket) {
  for (std::size_t i = 0; i < request.segmentCount; ++i) {
    if (request.segments[i].region->memoryFd() < 0) return false;
  }
  for (std::size_t i = 0; i < request.segmentCount; ++i) {
    const Segment& segment = request.segments[i];
    std::int64_t index = find(*segment.region);
    if (index < 0 && request.byteLength > kExportThreshold) index = add(*segment.region, socket);
    if (index < 0) return false;
    record.segments[i] = {.exportIndex = static_cast<std::uint32_t>(index),
                          .exportGeneration = exports_[static_cast<std::size_t>(index)].generation,
                          .offset = segment.offset,
                          .length = segment.length};
  }
  record.segmentCount = request.segmentCount;
  return true;
}

void ExportTable::withdraw(const Region& region) {
  const std::int64_t index = find(region);
  if (index < 0) return;
  Export& entry = exports_[static_cast<std::size_t>(index)];
  entry.region = nullptr;
  entry.withdrawn = true;
  ++withdrawals_;
}

bool ExportTable::sendWithdrawals(int socket) {
  for (std::size_t i = 0; withdrawals_ > 0 && i < exports_.size(); ++i) {
    Export& entry = exports_[i];
    if (!entry.withdrawn) continue;
    Message message;
    message.kind = MessageKind::kUnexport;
    message.exportIndex = static_cast<std::uint32_t>(i);
    message.exportGeneration = entry.generation;
    const int error = sendMessage(socket, message, {});
    if (error == EAGAIN || error == ENOBUFS || error == ENOMEM) return false;
    // Any other error means that the peer is gone, and its mappings with it.
    entry.withdrawn = false;
    bytesLeft_ += entry.byteLength;
    --withdrawals_;
  }
  return true;
}

std::int64_t ExportTable::find(const Region& region) noexcept {
  if (lastFound_ < exports_.size() && exports_[lastFound_].region == &region) return lastFound_;
  for (std::uint32_t i = 0; i < exports_.size(); ++i) {
    if (exports_[i].region != &region) continue;
    lastFound_ = i;
    return i;
  }
  return -1;
}

std::int64_t ExportTable::add(const Region& region, int socket) {
  const std::uint64_t byteLength = region.mappedBytes();
  // Memory that the peer would refuse (huge pages, or not sealed) is never offered.
  if (byteLength > bytesLeft_ || !os::isMappable(region.memoryFd(), byteLength)) return -1;
  const std::int64_t index = freeIndex();
  if (index < 0) return -1;
  Export& entry = exports_[static_cast<std::size_t>(index)];
  Message message;
  message.kind = MessageKind::kExport;
  message.exportIndex = static_cast<std::uint32_t>(index);
  message.exportGeneration = entry.generation + 1;
  message.exportBytes = byteLength;
  if (sendMessage(socket, message, {}, region.memoryFd()) != 0) return -1;
  entry = {.region = &region, .byteLength = byteLength, .generation = message.exportGeneration};
  bytesLeft_ -= byteLength;
  return index;
}

std::int64_t ExportTable::freeIndex() {
  for (std::size_t i = 0; i < exports_.size(); ++i) {
    if (exports_[i].region == nullptr && !exports_[i].withdrawn)
      return static_cast<std::int64_t>(i);
  }
  if (exports_.size() >= countLimit_) return -1;
  exports_.emplace_back();
  return static_cast<std::int64_t>(exports_.size()) - 1;
}

}  // namespace queuepair::shm
