// Posted receives, and the message that is being copied into the first of them.
#pragma once

#include <cstdint>
#include <vector>

#include "core/providers/shm/completion_queue.h"
#include "core/providers/shm/link.h"
#include "core/providers/shm/segment_cursor.h"

namespace queuepair::shm {

class ReceiveQueue {
 public:
  ReceiveQueue(std::uint32_t depth, SharedMemoryCompletionQueue& completions, void* context);

  [[nodiscard]] bool full() const noexcept { return posted_ - completed_ == depth_; }
  // After flush() a receive completes at once.
  void post(const WorkRequest& request);

  // Takes messages, copying at most about `budget` bytes. True: something moved.
  bool progress(Link& link, std::uint64_t budget);
  // From now on only what the peer has published until now is taken: it is gone.
  void freeze(Link& link);
  // Completes the receives, those posted later included, with kFlushed.
  void flush();

 private:
  WorkRequest& at(std::uint64_t index) noexcept { return entries_[index & mask_]; }

  bool look(Link& link);
  bool begin(Link& link);
  bool readRecord(Link& link);
  bool readPayload(Link& link, const WireRecord& shared);
  bool checkMapped(Link& link);
  std::uint64_t copy(Link& link, std::uint64_t budget);
  std::uint64_t copyStaged(Link& link, std::uint64_t budget);
  std::uint64_t copyMapped(Link& link, std::uint64_t budget);
  bool finish(Link& link);
  void refuse(Link& link);
  void publishHeads(Link& link);
  void push(const WorkRequest& request, Status status);

  std::uint32_t depth_;
  std::uint64_t mask_;
  std::vector<WorkRequest> entries_;
  SharedMemoryCompletionQueue& completions_;
  void* context_;
  std::uint64_t posted_ = 0;
  std::uint64_t completed_ = 0;

  std::uint64_t recordTail_ = 0;  // the peer's, as last accepted
  std::uint64_t stagedTail_ = 0;
  std::uint64_t recordHead_ = 0;
  std::uint64_t stagedHead_ = 0;

  WireRecord record_{};     // our copy of the record at recordHead_, while taking_
  SegmentCursor cursor_{};  // in the receive that takes it
  std::uint64_t copied_ = 0;
  std::uint32_t segment_ = 0;  // kMapped: where in the record's segments
  std::uint64_t segmentOffset_ = 0;
  bool taking_ = false;
  bool stopped_ = false;  // nothing is taken any more
  bool frozen_ = false;
  bool flushing_ = false;
};

}  // namespace queuepair::shm
