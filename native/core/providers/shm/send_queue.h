// Posted sends, on their way into the connection's records and then to their completion.
//
//   completed_ <= published_ <= posted_: entries before completed_ are done; those before
//   published_ are wholly in the record and staging rings; the one at published_ may be half
//   staged.
#pragma once

#include <cstdint>
#include <vector>

#include "core/providers/shm/completion_queue.h"
#include "core/providers/shm/link.h"
#include "core/providers/shm/segment_cursor.h"

namespace queuepair::shm {

class SendQueue {
 public:
  SendQueue(std::uint32_t depth, SharedMemoryCompletionQueue& completions, void* context);

  [[nodiscard]] bool full() const noexcept { return posted_ - completed_ == depth_; }
  [[nodiscard]] bool empty() const noexcept { return posted_ == completed_; }
  void post(const WorkRequest& request) { at(posted_++).request = request; }

  // Writes what fits into the rings. True: something was written.
  bool publish(Link& link);
  // Completes what the peer has done with. True: something completed.
  bool complete(Link& link);
  // Completes everything left with kFlushed.
  void flush();

 private:
  struct Entry {
    WorkRequest request;
    std::uint64_t recordEnd;  // the record index that the peer's head must reach
  };
  Entry& at(std::uint64_t index) noexcept { return entries_[index & mask_]; }

  bool publishNext(Link& link);
  void writeRecord(Link& link, Entry& entry);
  std::size_t placePayload(Link& link, const WorkRequest& request, WireRecord& record);
  void stage(Link& link);
  bool acceptHeads(Link& link);
  bool completeFailed(Link& link, std::uint32_t error);
  void push(const WorkRequest& request, Status status);

  std::uint32_t depth_;
  std::uint64_t mask_;
  std::vector<Entry> entries_;
  SharedMemoryCompletionQueue& completions_;
  void* context_;

  std::uint64_t posted_ = 0;
  std::uint64_t published_ = 0;
  std::uint64_t completed_ = 0;

  std::uint64_t recordTail_ = 0;
  std::uint64_t stagedTail_ = 0;
  std::uint64_t recordHead_ = 0;  // the peer's, as last accepted
  std::uint64_t stagedHead_ = 0;
  SegmentCursor cursor_{};      // of the message that is being staged
  std::uint64_t unstaged_ = 0;  // its bytes that are still to be staged
  bool refused_ = false;        // the peer refused a message: nothing later is sent or completes
};

}  // namespace queuepair::shm
