#include "core/os/wait_set.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>

namespace queuepair::os {
namespace {

constexpr WaitId kDoorbellId = 0;
// Descriptors reported by one wait. More than that many ready ones come round in the next: the
// kernel rotates its list.
constexpr int kMaxReady = 64;

std::uint32_t interest(bool readable, bool writable) noexcept {
  std::uint32_t events = EPOLLRDHUP;
  if (readable) events |= EPOLLIN;
  if (writable) events |= EPOLLOUT;
  return events;
}

std::uint32_t indexOf(WaitId id) noexcept { return static_cast<std::uint32_t>(id); }

}  // namespace

WaitSet::WaitSet()
    : epoll_(epoll_create1(EPOLL_CLOEXEC)), doorbell_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (!epoll_.valid() || !doorbell_.valid()) return;
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = kDoorbellId;
  if (epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, doorbell_.get(), &event) != 0) epoll_.reset();
}

bool WaitSet::valid() const noexcept { return epoll_.valid() && doorbell_.valid(); }

WaitId WaitSet::add(int fd, bool readable, bool writable, ReadyHandler* handler) {
  const bool reuse = !free_.empty();
  const std::uint32_t index = reuse ? free_.back() : static_cast<std::uint32_t>(entries_.size());
  const WaitId id = (static_cast<WaitId>(nextGeneration_) << 32) | index;
  epoll_event event{};
  event.events = interest(readable, writable);
  event.data.u64 = id;
  if (epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) != 0) return 0;
  if (reuse) {
    free_.pop_back();
  } else {
    entries_.emplace_back();
  }
  entries_[index] = {id, fd, handler};
  if (++nextGeneration_ == 0) nextGeneration_ = 1;  // so that no id is ever the doorbell's
  return id;
}

void WaitSet::change(WaitId id, bool readable, bool writable) {
  const Entry* entry = find(id);
  if (entry == nullptr) return;
  epoll_event event{};
  event.events = interest(readable, writable);
  event.data.u64 = id;
  epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, entry->fd, &event);
}

void WaitSet::remove(WaitId id) {
  Entry* entry = find(id);
  if (entry == nullptr) return;
  epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, entry->fd, nullptr);
  *entry = {};
  free_.push_back(indexOf(id));
}

// A full counter (EAGAIN) means that a ring is waiting already.
void WaitSet::ring() noexcept {
  const std::uint64_t one = 1;
  while (write(doorbell_.get(), &one, sizeof one) < 0 && errno == EINTR) {
  }
}

bool WaitSet::wait(int timeoutMs) noexcept {
  std::array<epoll_event, kMaxReady> events{};
  const int count = epoll_wait(epoll_.get(), events.data(), kMaxReady, timeoutMs);
  if (count <= 0) return false;
  const std::lock_guard lock(readyMutex_);
  // What an earlier wait kept and nobody dispatched is reported again, since all is
  // level-triggered.
  ready_.clear();
  for (int index = 0; index < count; ++index) {
    const epoll_event& event = events[static_cast<std::size_t>(index)];
    if (event.data.u64 == kDoorbellId) {
      std::uint64_t rings = 0;
      while (read(doorbell_.get(), &rings, sizeof rings) < 0 && errno == EINTR) {
      }
    } else {
      ready_.push_back({event.data.u64, event.events});
    }
  }
  anyReady_.store(!ready_.empty());
  return true;
}

std::uint32_t WaitSet::dispatch() {
  if (!anyReady_.load()) return 0;
  {
    const std::lock_guard lock(readyMutex_);
    dispatching_.clear();
    dispatching_.swap(ready_);
    anyReady_.store(false);
  }
  std::uint32_t called = 0;
  for (const Ready& ready : dispatching_) {
    // Looked up one by one: the handlers before may have removed this one, or given its place away.
    const Entry* entry = find(ready.id);
    if (entry == nullptr) continue;
    ++called;
    entry->handler->onReady((ready.events & EPOLLIN) != 0, (ready.events & EPOLLOUT) != 0,
                            (ready.events & (EPOLLHUP | EPOLLERR | EPOLLRDHUP)) != 0);
  }
  return called;
}

WaitSet::Entry* WaitSet::find(WaitId id) noexcept {
  const std::uint32_t index = indexOf(id);
  if (index >= entries_.size() || entries_[index].id != id || id == kDoorbellId) return nullptr;
  return &entries_[index];
}

}  // namespace queuepair::os
