#include "core/providers/shm/link.h"

#include <array>
#include <cerrno>

#include "core/os/unix_socket.h"

namespace queuepair::shm {

namespace {

std::uint32_t nextOdd(std::uint32_t value) noexcept { return value + 2 - (value + 1) % 2; }

}  // namespace

os::FileDescriptor Link::createMemory(const Geometry& geometry) noexcept {
  os::FileDescriptor memory = memory_.create(geometry);
  if (memory.valid()) {
    own_ = memory_.half(0);
    peer_ = memory_.half(1);
  }
  return memory;
}

bool Link::mapMemory(int fd, const Geometry& geometry) noexcept {
  if (!memory_.map(fd, geometry)) return false;
  own_ = memory_.half(1);
  peer_ = memory_.half(0);
  return true;
}

void Link::fail(Fault fault, const char* detail, int osError) {
  if (failure_.failed()) return;
  failure_ = {.fault = fault, .osError = osError, .status = Status::kSuccess, .detail = detail};
}

// The peer stores `armed`, then looks at `published`; we store `published`, then look at `armed`.
// In the one order of these four one of the two sees the other.
void Link::announce() noexcept {
  if (!touched_) return;
  touched_ = false;
  own_.words->published.store(++published_, std::memory_order_seq_cst);
  const std::uint32_t armed = peer_.words->armed.load(std::memory_order_seq_cst);
  if ((armed & 1U) == 0 || armed == rungFor_) return;
  constexpr std::array<std::byte, 1> kDoorbell{};
  const int error = os::sendSocketMessage(socket_.get(), kDoorbell);
  // A full socket wakes the peer as well, and a broken one is seen when it is read; only where the
  // kernel was out of memory is there a bell left to ring.
  touched_ = error == ENOBUFS || error == ENOMEM;
  if (!touched_) rungFor_ = armed;
}

bool Link::arm() noexcept {
  storeArmed(nextOdd(armed_));  // anew each time: the peer may have rung for the last one
  if (peer_.words->published.load(std::memory_order_seq_cst) == seen_) return true;
  disarm();
  return false;
}

void Link::rearm() noexcept {
  if ((armed_ & 1U) != 0) storeArmed(nextOdd(armed_));
}

void Link::disarm() noexcept {
  if ((armed_ & 1U) != 0) own_.words->armed.store(++armed_, std::memory_order_relaxed);
}

void Link::storeArmed(std::uint32_t value) noexcept {
  armed_ = value;
  own_.words->armed.store(value, std::memory_order_seq_cst);
}

void Link::setState(EndpointState state) noexcept {
  if (!memory_.mapped()) return;
  // An end in order stays one: nothing is left of what this side sent that could change.
  if (state_ == EndpointState::kClosing) return;
  state_ = state;
  own_.words->state.store(state, std::memory_order_seq_cst);
  fullFence();  // before whatever the program writes to its memory afterwards
}

EndpointState Link::peerState() const noexcept {
  return peer_.words->state.load(std::memory_order_seq_cst);
}

void Link::endWrites() noexcept {
  if (socket_.valid()) os::endSocketWrites(socket_.get());
}

}  // namespace queuepair::shm
