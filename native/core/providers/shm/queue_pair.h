// A send queue and a receive queue. Work may be posted before the connection exists and waits for
// it.
#pragma once

#include <cstdint>

#include "core/provider.h"
#include "core/providers/shm/receive_queue.h"
#include "core/providers/shm/send_queue.h"

namespace queuepair::shm {

class SharedMemoryQueuePair final : public QueuePair {
 public:
  SharedMemoryQueuePair(SharedMemoryCompletionQueue& completions, const QueuePairOptions& options);
  ~SharedMemoryQueuePair() override;

  PostResult postSend(const WorkRequest& request) override;
  PostResult postReceive(const WorkRequest& request) override;
  void ringDoorbell() override;
  void fail() override;
  void flushReceives() override { receives_.flush(); }

  // --- the connector's ---
  [[nodiscard]] bool failed() const noexcept { return failed_; }
  [[nodiscard]] bool free() const noexcept { return link_ == nullptr && !failed_; }
  void attach(Link& link) noexcept { link_ = &link; }
  void detach() noexcept { link_ = nullptr; }
  [[nodiscard]] std::uint32_t depth() const noexcept { return depth_; }

  void establish() noexcept { established_ = true; }
  // Moves what can be moved, copying at most about `budget` bytes. True: something moved.
  bool progress(std::uint64_t budget);
  void endSends() noexcept { sendsEnded_ = true; }
  // Nothing is sent any more, and only what the peer had published is taken.
  void onPeerGone();
  [[nodiscard]] bool hasUnfinishedSends() const noexcept { return !sends_.empty(); }

 private:
  [[nodiscard]] bool running() const noexcept { return established_ && link_ != nullptr; }
  void notePosted();

  SendQueue sends_;
  ReceiveQueue receives_;
  std::uint32_t depth_;
  Link* link_ = nullptr;
  bool posted_ = false;  // something since the last progress()
  bool established_ = false;
  bool sendsEnded_ = false;
  bool failed_ = false;
};

}  // namespace queuepair::shm
