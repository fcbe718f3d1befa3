#include "core/providers/shm/queue_pair.h"

#include <algorithm>

namespace queuepair::shm {

SharedMemoryQueuePair::SharedMemoryQueuePair(SharedMemoryCompletionQueue& completions,
                                             const QueuePairOptions& options)
    : sends_(options.sendDepth, completions, options.context),
      receives_(options.receiveDepth, completions, options.context),
      depth_(std::max(options.sendDepth, options.receiveDepth)) {}

SharedMemoryQueuePair::~SharedMemoryQueuePair() {
  if (link_ == nullptr) return;
  link_->setState(EndpointState::kFailed);
  link_->endWrites();
  link_->owner().onPairDestroyed();
}

PostResult SharedMemoryQueuePair::postSend(const WorkRequest& request) {
  if (failed_) return PostResult::kRefused;
  if (sends_.full()) return PostResult::kAgain;
  sends_.post(request);
  notePosted();
  return PostResult::kPosted;
}

PostResult SharedMemoryQueuePair::postReceive(const WorkRequest& request) {
  if (failed_) return PostResult::kRefused;
  if (receives_.full()) return PostResult::kAgain;
  receives_.post(request);
  notePosted();
  return PostResult::kPosted;
}

// A posted send, or a receive for which a message waits: the connection may be resting.
void SharedMemoryQueuePair::notePosted() {
  if (posted_) return;
  posted_ = true;
  if (running()) link_->owner().onPosted();
}

void SharedMemoryQueuePair::ringDoorbell() {
  if (!running() || failed_ || sendsEnded_ || link_->failure().failed()) return;
  sends_.publish(*link_);
  link_->announce();
}

bool SharedMemoryQueuePair::progress(std::uint64_t budget) {
  posted_ = false;
  if (!running() || failed_) return false;
  bool moved = sends_.complete(*link_);
  moved = receives_.progress(*link_, budget) || moved;
  if (!sendsEnded_) moved = sends_.publish(*link_) || moved;
  return moved;
}

void SharedMemoryQueuePair::onPeerGone() {
  endSends();
  if (running() && !failed_) receives_.freeze(*link_);
}

void SharedMemoryQueuePair::fail() {
  if (failed_) return;
  failed_ = true;
  if (link_ != nullptr) {
    // Before the program gets its memory back: the peer may be copying from it.
    link_->setState(EndpointState::kFailed);
    if (established_ && !link_->failure().failed()) sends_.complete(*link_);
  }
  sends_.flush();
  receives_.flush();
  if (link_ != nullptr) link_->endWrites();
}

}  // namespace queuepair::shm
