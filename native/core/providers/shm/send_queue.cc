#include "core/providers/shm/send_queue.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "core/providers/shm/record_fault.h"

namespace queuepair::shm {

SendQueue::SendQueue(std::uint32_t depth, SharedMemoryCompletionQueue& completions, void* context)
    : depth_(depth),
      mask_(std::bit_ceil(depth) - 1),
      entries_(mask_ + 1),
      completions_(completions),
      context_(context) {}

bool SendQueue::publish(Link& link) {
  const std::uint64_t recordsBefore = recordTail_;
  const std::uint64_t stagedBefore = stagedTail_;
  while (published_ != posted_ && !refused_ && publishNext(link)) ++published_;
  if (recordTail_ == recordsBefore && stagedTail_ == stagedBefore) return false;
  EndpointWords& words = *link.own().words;
  words.stagedTail.store(stagedTail_, std::memory_order_release);
  words.recordTail.store(recordTail_, std::memory_order_release);
  link.touch();
  return true;
}

// True when the entry is wholly published.
bool SendQueue::publishNext(Link& link) {
  Entry& entry = at(published_);
  if (unstaged_ == 0) {
    if (entry.request.opcode != Opcode::kSend) {  // a marker: needs no record
      entry.recordEnd = recordTail_;
      return true;
    }
    if (recordTail_ - recordHead_ == link.geometry().recordCapacity) return false;
    writeRecord(link, entry);
  }
  if (unstaged_ > 0) stage(link);
  return unstaged_ == 0;
}

void SendQueue::writeRecord(Link& link, Entry& entry) {
  const WorkRequest& request = entry.request;
  WireRecord record{};
  record.sequence = recordTail_ + 1;
  record.flags = request.flags & kImmediate;
  record.immediate = request.immediate;
  record.byteLength = request.byteLength;
  const std::size_t used = kRecordHeaderBytes + placePayload(link, request, record);
  damageIfAsked(link.faults(), record);
  const std::uint64_t index = recordTail_ & (link.geometry().recordCapacity - 1);
  std::memcpy(&link.own().records[index], &record, used);
  entry.recordEnd = ++recordTail_;
}

// Says where the payload is. Returns how much of the record's second part is in use.
std::size_t SendQueue::placePayload(Link& link, const WorkRequest& request, WireRecord& record) {
  if (request.byteLength <= kInlineBytes) {
    record.kind = RecordKind::kInline;
    SegmentCursor(request).gather(record.payload.data(), request.byteLength);
    return request.byteLength;
  }
  if (request.byteLength > kMappedThreshold &&
      link.exports().describe(request, record, link.socket())) {
    record.kind = RecordKind::kMapped;
    return sizeof(record.segments);
  }
  record.kind = RecordKind::kStaged;
  record.stagedStart = stagedTail_;
  cursor_ = SegmentCursor(request);
  unstaged_ = request.byteLength;
  return 0;
}

// As much as there is room for; the rest follows as the peer takes bytes out.
void SendQueue::stage(Link& link) {
  const std::uint64_t capacity = link.geometry().stagingBytes;
  std::uint64_t bytes = std::min(unstaged_, capacity - (stagedTail_ - stagedHead_));
  unstaged_ -= bytes;
  while (bytes > 0) {
    const std::uint64_t at = stagedTail_ & (capacity - 1);
    const std::uint64_t run = std::min(bytes, capacity - at);
    cursor_.gather(link.own().staging + at, run);
    stagedTail_ += run;
    bytes -= run;
  }
}

bool SendQueue::complete(Link& link) {
  if (refused_) return false;
  // The error first: a head read after it is at least the one that it goes with.
  const std::uint32_t error = link.peer().words->error.load(std::memory_order_acquire);
  if (!acceptHeads(link)) return false;
  const std::uint64_t before = completed_;
  while (completed_ != published_ && at(completed_).recordEnd <= recordHead_) {
    const WorkRequest& request = at(completed_++).request;
    const bool known = request.opcode == Opcode::kSend || request.opcode == Opcode::kFlush;
    push(request, known ? Status::kSuccess : Status::kLocalQueuePairOperation);
  }
  return (error != 0 && completeFailed(link, error)) || completed_ != before;
}

bool SendQueue::acceptHeads(Link& link) {
  const EndpointWords& words = *link.peer().words;
  const std::uint64_t stagedHead = words.stagedHead.load(std::memory_order_acquire);
  const std::uint64_t recordHead = words.recordHead.load(std::memory_order_acquire);
  // A message that is still being staged cannot be done with.
  const std::uint64_t wholeRecords = recordTail_ - (unstaged_ > 0 ? 1 : 0);
  if (recordHead - recordHead_ > wholeRecords - recordHead_ ||
      stagedHead - stagedHead_ > stagedTail_ - stagedHead_) {
    link.failProtocol("it acknowledged what was never sent");
    return false;
  }
  recordHead_ = recordHead;
  stagedHead_ = stagedHead;
  return true;
}

bool SendQueue::completeFailed(Link& link, std::uint32_t error) {
  const bool outstanding = recordTail_ != recordHead_;
  if (!outstanding || error != static_cast<std::uint32_t>(Status::kRemoteInvalidRequest)) {
    link.failProtocol("it reported an error that makes no sense");
    return false;
  }
  refused_ = true;
  push(at(completed_++).request, Status::kRemoteInvalidRequest);
  // The refused message may still have been on its way into the staging ring.
  if (published_ < completed_) published_ = completed_;
  unstaged_ = 0;
  return true;
}

void SendQueue::flush() {
  while (completed_ != posted_) push(at(completed_++).request, Status::kFlushed);
  published_ = posted_;
  unstaged_ = 0;
}

void SendQueue::push(const WorkRequest& request, Status status) {
  const bool success = status == Status::kSuccess;
  completions_.push({.id = request.id,
                     .context = context_,
                     .opcode = request.opcode,
                     .status = status,
                     .flags = request.flags,
                     .immediate = request.immediate,
                     .byteLength = success ? request.byteLength : 0,
                     .result = 0});
}

}  // namespace queuepair::shm
