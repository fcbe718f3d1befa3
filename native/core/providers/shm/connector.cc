#include "core/providers/shm/connector.h"

#include <cerrno>

#include "core/os/local_address.h"
#include "core/providers/shm/adapter.h"

namespace queuepair::shm {
namespace {

// What one connection may copy before the others get their turn: some 20 µs.
constexpr std::uint64_t kCopyBudget = 1U << 18U;  // 256 KiB
// Rounds without traffic before a connection is no longer polled; well beyond a spin window's
// worth.
constexpr std::uint32_t kRestAfterRounds = 10'000;

ControlResult failed(Fault fault, const char* detail, int osError = 0) {
  return ControlResult::failed(
      {.fault = fault, .osError = osError, .status = Status::kSuccess, .detail = detail});
}

}  // namespace

SharedMemoryConnector::SharedMemoryConnector(SharedMemoryAdapter& adapter)
    : adapter_(adapter), link_(*this, adapter.importBudget(), adapter.faults()) {
  adapter_.add(*this);
}

SharedMemoryConnector::~SharedMemoryConnector() {
  // A request that is withdrawn, or dropped, is an end in order.
  if (state_ == State::kRequesting || state_ == State::kRequested || state_ == State::kAccepting) {
    link_.setState(EndpointState::kClosing);
  }
  if (pair_ != nullptr) {
    // They are flushed from here on, and the peer may be copying one of them.
    if (pair_->hasUnfinishedSends()) link_.setState(EndpointState::kFailed);
    pair_->detach();
  }
  unwatchSocket();
  adapter_.remove(*this);
}

// --- control calls ---

ControlResult SharedMemoryConnector::connect(QueuePair& pair, const Address& to,
                                             std::span<const std::byte> privateData) {
  auto& ours = static_cast<SharedMemoryQueuePair&>(pair);
  if (state_ != State::kIdle || !ours.free()) return failed(Fault::kInvalidState, "already in use");
  if (privateData.size() > kMaxPrivateBytes) {
    return failed(Fault::kInvalidArgument, "too much private data");
  }
  const os::AddressKind kind = os::classifyAddress(to.host);
  if (kind == os::AddressKind::kInvalid || to.port == 0) {
    return failed(Fault::kInvalidArgument, "not a numeric address with a port");
  }
  if (kind == os::AddressKind::kForeign) {
    return failed(Fault::kAddressNotLocal, "shared memory reaches only addresses of this host");
  }
  os::FileDescriptor socket = os::createSocket();
  if (!socket.valid()) return failed(Fault::kOutOfResources, "no socket", errno);
  link_.adoptSocket(std::move(socket));
  bind(ours);
  peer_.address = to;
  local_ = {.host = to.host, .port = 0};
  privateData_.assign(privateData.begin(), privateData.end());
  Failure why = tryConnect(0);
  if (why.failed()) {
    pair_->detach();
    pair_ = nullptr;
    link_.closeSocket();
    state_ = State::kEnded;
    return ControlResult::failed(std::move(why));
  }
  return ControlResult::pending();
}

ControlResult SharedMemoryConnector::accept(QueuePair& pair,
                                            std::span<const std::byte> privateData) {
  auto& ours = static_cast<SharedMemoryQueuePair&>(pair);
  if (state_ != State::kRequested || !ours.free()) {
    return failed(Fault::kInvalidState, "not a request to accept");
  }
  if (privateData.size() > kMaxPrivateBytes) {
    return failed(Fault::kInvalidArgument, "too much private data");
  }
  Message message;
  message.kind = MessageKind::kAccept;
  message.importCount = link_.imports().countLimit();
  message.importBytes = link_.imports().byteLimit();
  if (const int error = send(message, privateData); error != 0) {
    return failed(Fault::kOutOfResources, "the answer is stuck", error);
  }
  bind(ours);
  state_ = State::kAccepting;
  return ControlResult::pending();
}

ControlResult SharedMemoryConnector::reject(std::span<const std::byte> privateData) {
  if (state_ != State::kRequested) return failed(Fault::kInvalidState, "not a request to reject");
  if (privateData.size() > kMaxPrivateBytes) {
    return failed(Fault::kInvalidArgument, "too much private data");
  }
  sendReject(RejectReason::kByProgram, privateData);
  return ControlResult::done();
}

// In order because the lane calls it once all its sends are done. The word is there before the end
// of the socket is, and tells it from a death; nothing here waits for the peer.
ControlResult SharedMemoryConnector::disconnect() {
  if (state_ == State::kIdle || state_ == State::kEnded || disconnecting_) {
    return failed(Fault::kInvalidState, "not connected");
  }
  const bool inOrder = pair_ == nullptr || !(pair_->failed() || pair_->hasUnfinishedSends());
  if (inOrder) link_.setState(EndpointState::kClosing);
  if (pair_ != nullptr) pair_->endSends();
  link_.endWrites();
  disconnecting_ = true;
  adapter_.activate(*this);
  return ControlResult::pending();
}

void SharedMemoryConnector::bind(QueuePair& pair) {
  pair_ = static_cast<SharedMemoryQueuePair*>(&pair);
  pair_->attach(link_);
}

// --- progress ---

void SharedMemoryConnector::onPosted() {
  quiet_ = false;
  adapter_.activate(*this);
}

bool SharedMemoryConnector::progress(std::uint64_t nowNanoseconds) {
  if (state_ == State::kEnded) return false;
  bool moved = false;
  if (state_ == State::kConnecting && nowNanoseconds >= retryAt_) {
    Failure why = tryConnect(nowNanoseconds);
    if (why.failed()) link_.fail(why.fault, why.detail.c_str(), why.osError);
  }
  if (socketReady_) {
    readSocket();
    moved = true;
  }
  if (establishedUnreported_) {
    establishedUnreported_ = false;
    adapter_.events().onEstablished(*this);  // may destroy this
    return true;
  }
  if (state_ == State::kEstablished && progressData()) moved = true;
  if (moved && !disconnecting_ && !link_.failure().failed()) return true;
  return report() || moved;
}

bool SharedMemoryConnector::progressData() {
  if (link_.exports().hasWithdrawals()) sendWithdrawals();
  quiet_ = true;
  if (pair_ == nullptr || link_.failure().failed()) return false;
  link_.look();
  const bool moved = pair_->progress(kCopyBudget);
  link_.announce();
  quiet_ = !moved;
  quietRounds_ = moved ? 0 : quietRounds_ + 1;
  return moved;
}

// What ended the connection, once nothing is left to take: the last call to the engine.
bool SharedMemoryConnector::report() {
  Failure why;
  if (link_.failure().failed()) {
    why = link_.failure();
    link_.endWrites();
  } else if (disconnecting_) {
    why = {.fault = Fault::kClosedLocally};
  } else if (socketEnded_) {
    why = endOfSocket();
  } else {
    return false;
  }
  state_ = State::kEnded;
  unwatchSocket();
  adapter_.events().onDisconnected(*this, why);  // may destroy this
  return true;
}

Failure SharedMemoryConnector::endOfSocket() const {
  const EndpointState peerState = link_.peerState();
  if (peerState == EndpointState::kClosing) return {.fault = Fault::kPeerClosed};
  if (peerState == EndpointState::kFailed) {
    return {.fault = Fault::kPeerLost, .detail = "it dropped the connection"};
  }
  const bool unanswered = state_ == State::kRequesting;
  return {
      .fault = Fault::kPeerLost,
      .detail = unanswered ? "its process went away before it answered" : "its process went away"};
}

bool SharedMemoryConnector::needsPolling() const noexcept {
  if (state_ == State::kEnded || state_ == State::kIdle) return false;
  return state_ == State::kConnecting || state_ == State::kEstablished || socketReady_ ||
         socketEnded_ || disconnecting_ || link_.failure().failed();
}

bool SharedMemoryConnector::isQuiet() const noexcept { return quietRounds_ > kRestAfterRounds; }

bool SharedMemoryConnector::mayRest() const noexcept {
  return state_ == State::kEstablished && pair_ != nullptr && !pair_->hasUnfinishedSends() &&
         !link_.exports().hasWithdrawals();
}

bool SharedMemoryConnector::arm() noexcept {
  if (!needsPolling() || state_ == State::kConnecting) return true;
  if (state_ != State::kEstablished || socketReady_ || socketEnded_ || disconnecting_ ||
      establishedUnreported_ || link_.failure().failed() || !quiet_) {
    return false;
  }
  return link_.arm();
}

void SharedMemoryConnector::disarm() noexcept { link_.disarm(); }

}  // namespace queuepair::shm
