#include "core/control_queue.h"

#include <iterator>
#include <utility>

namespace queuepair {

void ControlQueue::push(ControlRequest request) {
  const std::lock_guard lock(mutex_);
  requests_.push_back(std::move(request));
  waiting_.store(true);
}

void ControlQueue::takeAll(std::vector<ControlRequest>& into) {
  into.clear();
  if (!waiting()) return;
  const std::lock_guard lock(mutex_);
  into.swap(requests_);
  waiting_.store(false);
}

bool EventQueue::publish() {
  if (added_.empty()) return false;
  posted_ += static_cast<std::uint32_t>(added_.size());
  {
    const std::lock_guard lock(mutex_);
    published_.insert(published_.end(), std::make_move_iterator(added_.begin()),
                      std::make_move_iterator(added_.end()));
    untaken_.store(true);
  }
  added_.clear();
  header_.store(layout::kEventsPostedAt, posted_);
  return true;
}

std::vector<Event> EventQueue::takeAll() {
  const std::lock_guard lock(mutex_);
  untaken_.store(false);
  return std::exchange(published_, {});
}

}  // namespace queuepair
