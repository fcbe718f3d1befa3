#include "core/providers/shm/receive_queue.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace queuepair::shm {
namespace {

// The peer may write while we read: every word is read once, and what was read is then checked.
using AliasingWord [[gnu::may_alias]] = std::uint64_t;
void copyOnce(void* into, const void* from, std::size_t bytes) noexcept {
  auto* to = static_cast<AliasingWord*>(into);
  const auto* words = static_cast<const volatile AliasingWord*>(from);
  for (std::size_t i = 0; i < bytes / sizeof(AliasingWord); ++i) to[i] = words[i];
}

}  // namespace

ReceiveQueue::ReceiveQueue(std::uint32_t depth, SharedMemoryCompletionQueue& completions,
                           void* context)
    : depth_(depth),
      mask_(std::bit_ceil(depth) - 1),
      entries_(mask_ + 1),
      completions_(completions),
      context_(context) {}

void ReceiveQueue::post(const WorkRequest& request) {
  if (flushing_) {
    push(request, Status::kFlushed);
  } else {
    at(posted_++) = request;
  }
}

bool ReceiveQueue::progress(Link& link, std::uint64_t budget) {
  if (stopped_ || !look(link)) return false;
  const std::uint64_t headBefore = recordHead_;
  const std::uint64_t stagedBefore = stagedHead_;
  bool moved = false;
  while (!stopped_ && (taking_ || begin(link))) {
    const std::uint64_t copied = copy(link, budget);
    moved = moved || copied > 0;
    budget -= copied;
    if (link.failure().failed() || copied_ != record_.byteLength || !finish(link)) break;
    moved = true;
  }
  if (recordHead_ != headBefore || stagedHead_ != stagedBefore) publishHeads(link);
  return moved;
}

bool ReceiveQueue::look(Link& link) {
  if (frozen_) return true;
  const EndpointWords& words = *link.peer().words;
  const std::uint64_t recordTail = words.recordTail.load(std::memory_order_acquire);
  const std::uint64_t stagedTail = words.stagedTail.load(std::memory_order_acquire);
  if (recordTail - recordHead_ > link.geometry().recordCapacity ||
      stagedTail - stagedHead_ > link.geometry().stagingBytes) {
    link.failProtocol("it filled a ring beyond its capacity");
    stopped_ = true;
    return false;
  }
  recordTail_ = recordTail;
  stagedTail_ = stagedTail;
  return true;
}

void ReceiveQueue::freeze(Link& link) {
  if (stopped_ || !look(link)) return;
  frozen_ = true;
}

// True when a message and a receive for it have met.
bool ReceiveQueue::begin(Link& link) {
  if (recordHead_ == recordTail_ || completed_ == posted_ || !readRecord(link)) return false;
  const WorkRequest& receive = at(completed_);
  if (record_.byteLength > receive.byteLength) {
    refuse(link);
    return false;
  }
  cursor_ = SegmentCursor(receive);
  copied_ = 0;
  segment_ = 0;
  segmentOffset_ = 0;
  taking_ = true;
  return true;
}

bool ReceiveQueue::readRecord(Link& link) {
  const std::uint64_t index = recordHead_ & (link.geometry().recordCapacity - 1);
  const WireRecord& shared = link.peer().records[index];
  copyOnce(&record_, &shared, kRecordHeaderBytes);
  if (record_.sequence == recordHead_ + 1 && (record_.flags & ~kImmediate) == 0 &&
      record_.byteLength <= kMaxSendBytes && readPayload(link, shared)) {
    return true;
  }
  link.failProtocol("it sent a malformed record");
  stopped_ = true;
  return false;
}

// Reads where the payload is, or the payload. False: it makes no sense.
bool ReceiveQueue::readPayload(Link& link, const WireRecord& shared) {
  switch (record_.kind) {
    case RecordKind::kInline:
      if (record_.segmentCount != 0 || record_.byteLength > kInlineBytes) return false;
      copyOnce(&record_.payload, &shared.payload, (record_.byteLength + 7) & ~7ULL);
      return true;
    case RecordKind::kStaged:
      return record_.segmentCount == 0 && record_.stagedStart == stagedHead_;
    case RecordKind::kMapped:
      copyOnce(&record_.segments, &shared.segments, sizeof(record_.segments));
      return checkMapped(link);
  }
  return false;
}

bool ReceiveQueue::checkMapped(Link& link) {
  if (record_.segmentCount > kMaxSegments) return false;
  std::uint64_t total = 0;
  for (std::size_t i = 0; i < record_.segmentCount; ++i) {
    const WireSegment& segment = record_.segments[i];
    // Exports precede their first use on the socket, which is read here if it was not yet.
    if (!link.imports().holds(segment)) link.owner().readSocket();
    if (link.imports().resolve(segment) == nullptr) return false;
    total += segment.length;  // each at most an import's length: cannot wrap
  }
  return total == record_.byteLength;
}

std::uint64_t ReceiveQueue::copy(Link& link, std::uint64_t budget) {
  switch (record_.kind) {
    case RecordKind::kInline:
      cursor_.scatter(record_.payload.data(), record_.byteLength);
      copied_ = record_.byteLength;
      return 0;  // as cheap as having no payload
    case RecordKind::kStaged:
      return copyStaged(link, budget);
    case RecordKind::kMapped:
      return copyMapped(link, budget);
  }
  return 0;
}

std::uint64_t ReceiveQueue::copyStaged(Link& link, std::uint64_t budget) {
  const std::uint64_t capacity = link.geometry().stagingBytes;
  const std::uint64_t left = record_.byteLength - copied_;
  const std::uint64_t bytes = std::min({budget, left, stagedTail_ - stagedHead_});
  for (std::uint64_t done = 0; done < bytes;) {
    const std::uint64_t from = stagedHead_ & (capacity - 1);
    const std::uint64_t run = std::min(bytes - done, capacity - from);
    cursor_.scatter(link.peer().staging + from, run);
    stagedHead_ += run;
    done += run;
  }
  copied_ += bytes;
  return bytes;
}

std::uint64_t ReceiveQueue::copyMapped(Link& link, std::uint64_t budget) {
  std::uint64_t done = 0;
  while (done < budget && copied_ < record_.byteLength) {
    const WireSegment& segment = record_.segments[segment_];
    if (segmentOffset_ == segment.length) {
      ++segment_;
      segmentOffset_ = 0;
      continue;
    }
    const std::byte* from = link.imports().resolve(segment);
    if (from == nullptr) {
      link.failProtocol("it withdrew memory that it was sending from");
      stopped_ = true;
      break;
    }
    const std::uint64_t bytes = std::min(budget - done, segment.length - segmentOffset_);
    cursor_.scatter(from + segmentOffset_, bytes);
    segmentOffset_ += bytes;
    copied_ += bytes;
    done += bytes;
  }
  return done;
}

// False: the message must not be delivered.
bool ReceiveQueue::finish(Link& link) {
  if (record_.kind == RecordKind::kMapped) {
    // The sender says that it failed before its program may change the memory again; if it has not
    // said so after the copy, the copy is whole.
    fullFence();
    if (link.peerState() == EndpointState::kFailed) {
      stopped_ = true;
      // Its socket ends as well, but that of a peer that only says so may not.
      link.fail(Fault::kPeerLost, "it dropped the connection");
      return false;
    }
  }
  taking_ = false;
  ++recordHead_;
  push(at(completed_++), Status::kSuccess);
  return true;
}

// The receive is too short: it fails, and the sender is told which of its messages failed there.
void ReceiveQueue::refuse(Link& link) {
  publishHeads(link);
  link.own().words->error.store(static_cast<std::uint32_t>(Status::kRemoteInvalidRequest),
                                std::memory_order_release);
  link.touch();
  push(at(completed_++), Status::kLocalLength);
  stopped_ = true;
}

void ReceiveQueue::publishHeads(Link& link) {
  EndpointWords& words = *link.own().words;
  words.stagedHead.store(stagedHead_, std::memory_order_release);
  words.recordHead.store(recordHead_, std::memory_order_release);
  link.touch();
}

void ReceiveQueue::flush() {
  flushing_ = true;
  // A message that was being taken has lost its receive; nothing takes it any more.
  if (taking_) stopped_ = true;
  while (completed_ != posted_) push(at(completed_++), Status::kFlushed);
}

void ReceiveQueue::push(const WorkRequest& request, Status status) {
  const bool success = status == Status::kSuccess;
  const bool withImmediate = success && (record_.flags & kImmediate) != 0;
  completions_.push({
      .id = request.id,
      .context = context_,
      .opcode = Opcode::kReceive,
      .status = status,
      .flags =
          static_cast<std::uint8_t>((request.flags & kSignaled) | (withImmediate ? kImmediate : 0)),
      .immediate = withImmediate ? record_.immediate : 0,
      .byteLength = success ? record_.byteLength : 0,
      // How long the message would have been, for the error's text.
      .result = status == Status::kLocalLength ? record_.byteLength : 0,
  });
}

}  // namespace queuepair::shm
