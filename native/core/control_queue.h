// The two locked queues between JavaScript and the lane: control requests down, events up.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <vector>

#include "core/control.h"
#include "core/shared_header.h"

namespace queuepair {

class ControlQueue {
 public:
  // Any thread.
  void push(ControlRequest request);
  [[nodiscard]] bool waiting() const noexcept { return waiting_.load(); }
  // Under the token: `into` is emptied first and keeps its storage.
  void takeAll(std::vector<ControlRequest>& into);

 private:
  std::mutex mutex_;
  std::vector<ControlRequest> requests_{};
  // Set after a push, looked at by steps without the lock and by the poller before it parks.
  std::atomic<bool> waiting_{false};
};

class EventQueue {
 public:
  explicit EventQueue(SharedHeader header) noexcept
      : header_(header), posted_(header.load(layout::kEventsPostedAt)) {}

  // Under the token. Nobody sees an event before publish(), which comes after the completions that
  // belong before it.
  void add(Event event) { added_.push_back(std::move(event)); }
  bool publish();  // true: there was something
  // Any thread.
  std::vector<Event> takeAll();
  [[nodiscard]] bool untaken() const noexcept { return untaken_.load(); }

 private:
  SharedHeader header_;
  std::uint32_t posted_;
  std::vector<Event> added_{};
  std::mutex mutex_;
  std::vector<Event> published_{};
  std::atomic<bool> untaken_{false};
};

}  // namespace queuepair
