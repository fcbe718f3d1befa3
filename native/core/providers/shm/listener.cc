#include "core/providers/shm/listener.h"

#include <sys/random.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "core/os/local_address.h"
#include "core/providers/shm/adapter.h"
#include "core/providers/shm/message.h"

namespace queuepair::shm {
namespace {

// A connector sends its request right after it connected; only a stopped process takes longer.
constexpr std::uint64_t kHandshakeNanoseconds = 5'000'000'000;
// Sockets that owe a request; past that the oldest, which had the most time, makes room.
constexpr std::size_t kMaxHandshakes = 64;
// Per progress(), so that a flood of connections delays the data path by microseconds only.
constexpr int kMaxAccepts = 16;
// Out of descriptors: the socket stays readable, and trying at once would spin.
constexpr std::uint64_t kPauseNanoseconds = 100'000'000;
// Connectors that found the queue full try again, so this need not be what the program asked for.
constexpr int kKernelBacklog = 128;
// The range of Linux's own ephemeral ports, for which a reader of a log takes them.
constexpr std::uint16_t kFirstFreePort = 32768;
constexpr std::uint16_t kLastFreePort = 60999;

// How peers, all of them on this host, reach and are reached.
std::string concrete(const std::string& host) {
  if (os::classifyAddress(host) != os::AddressKind::kWildcard) return host;
  return host.find(':') == std::string::npos ? "127.0.0.1" : "::1";
}

}  // namespace

std::string socketName(std::uint16_t port) {
  return "queuepair/" + std::to_string(os::ownUserId()) + "/" + std::to_string(port);
}

SharedMemoryListener::SharedMemoryListener(SharedMemoryAdapter& adapter, Address at)
    : adapter_(adapter), at_(std::move(at)) {
  adapter_.add(*this);
}

SharedMemoryListener::~SharedMemoryListener() {
  adapter_.remove(*this);
  for (Handshake& handshake : handshakes_) endHandshake(handshake);
  if (watch_ != 0) adapter_.waitSet().remove(watch_);
}

Failure SharedMemoryListener::open() {
  Failure why;
  if (at_.port == 0) {
    why = bindFreePort();
  } else {
    socket_ = os::listenOnSocket(socketName(at_.port), kKernelBacklog);
    if (!socket_.valid()) {
      why.fault = errno == EADDRINUSE ? Fault::kAddressInUse : Fault::kOutOfResources;
      why.osError = errno;
      why.detail = "port " + std::to_string(at_.port);
    }
  }
  if (why.failed()) return why;
  watch_ = adapter_.waitSet().add(socket_.get(), true, false, this);
  if (watch_ != 0) return {};
  return {.fault = Fault::kOutOfResources, .osError = errno, .detail = "no room in the wait set"};
}

Failure SharedMemoryListener::bindFreePort() {
  constexpr std::uint32_t kPorts = kLastFreePort - kFirstFreePort + 1;
  std::uint32_t start = 0;
  if (getrandom(&start, sizeof(start), 0) != sizeof(start)) start = 0;
  for (std::uint32_t i = 0; i < kPorts; ++i) {
    const auto port = static_cast<std::uint16_t>(kFirstFreePort + (start + i) % kPorts);
    socket_ = os::listenOnSocket(socketName(port), kKernelBacklog);
    if (socket_.valid()) {
      at_.port = port;
      return {};
    }
    if (errno != EADDRINUSE) break;
  }
  return {.fault = Fault::kOutOfResources, .osError = errno, .detail = "no free port"};
}

void SharedMemoryListener::onReady(bool, bool, bool) { ready_ = true; }

void SharedMemoryListener::Handshake::onReady(bool, bool, bool) { ready = true; }

bool SharedMemoryListener::hasNews() const noexcept {
  return ready_ || std::any_of(handshakes_.begin(), handshakes_.end(),
                               [](const Handshake& handshake) { return handshake.ready; });
}

std::uint64_t SharedMemoryListener::deadlineNanoseconds() const noexcept {
  if (handshakes_.empty()) return resumeAt_;
  const std::uint64_t oldest = handshakes_.front().deadline;
  return resumeAt_ == 0 ? oldest : std::min(oldest, resumeAt_);
}

bool SharedMemoryListener::progress(std::uint64_t nowNanoseconds) {
  if (resumeAt_ != 0 && nowNanoseconds >= resumeAt_) {
    resumeAt_ = 0;
    ready_ = true;
    adapter_.waitSet().change(watch_, true, false);
  }
  while (!handshakes_.empty() && handshakes_.front().deadline <= nowNanoseconds) {
    endHandshake(handshakes_.front());
    handshakes_.pop_front();
  }
  // Nothing is accepted while there are requests to read: one that is here never has to make room.
  if (deliverOne()) return true;
  return ready_ && acceptSome(nowNanoseconds);
}

bool SharedMemoryListener::acceptSome(std::uint64_t nowNanoseconds) {
  for (int i = 0; i < kMaxAccepts; ++i) {
    os::FileDescriptor socket = os::acceptSocket(socket_.get());
    if (!socket.valid()) {
      if (errno == ECONNABORTED || errno == EINTR) continue;
      ready_ = false;
      if (errno != EAGAIN) pauseAccepting(nowNanoseconds);
      return i > 0;
    }
    startHandshake(std::move(socket), nowNanoseconds);
  }
  return true;
}

void SharedMemoryListener::pauseAccepting(std::uint64_t nowNanoseconds) {
  resumeAt_ = nowNanoseconds + kPauseNanoseconds;
  adapter_.waitSet().change(watch_, false, false);
}

void SharedMemoryListener::startHandshake(os::FileDescriptor socket, std::uint64_t nowNanoseconds) {
  if (handshakes_.size() == kMaxHandshakes) {
    endHandshake(handshakes_.front());
    handshakes_.pop_front();
  }
  Handshake& handshake = handshakes_.emplace_back();
  handshake.socket = std::move(socket);
  handshake.deadline = nowNanoseconds + kHandshakeNanoseconds;
  handshake.watch = adapter_.waitSet().add(handshake.socket.get(), true, false, &handshake);
}

void SharedMemoryListener::endHandshake(Handshake& handshake) {
  if (handshake.watch != 0) adapter_.waitSet().remove(handshake.watch);
  handshake.watch = 0;
  handshake.socket.reset();
}

// One request at a time: the engine may close this listener when it gets it.
bool SharedMemoryListener::deliverOne() {
  for (auto at = handshakes_.begin(); at != handshakes_.end();) {
    if (!at->ready) {
      ++at;
      continue;
    }
    at->ready = false;
    bool over = false;
    std::unique_ptr<SharedMemoryConnector> request = readRequest(*at, over);
    if (!over) {
      ++at;
      continue;
    }
    endHandshake(*at);
    at = handshakes_.erase(at);
    if (request == nullptr) continue;
    if (adapter_.events().admitsRequest(*this)) {
      adapter_.events().onConnectionRequest(*this, std::move(request));  // may destroy this
    } else {
      request->sendReject(RejectReason::kBacklogFull, {});
    }
    return true;
  }
  return false;
}

// Null with `over`: this was no peer of ours.
std::unique_ptr<SharedMemoryConnector> SharedMemoryListener::readRequest(Handshake& handshake,
                                                                         bool& over) {
  std::array<std::byte, kMaxMessageBytes> bytes{};
  const os::SocketMessage received = os::receiveSocketMessage(handshake.socket.get(), bytes);
  using Kind = os::SocketMessage::Kind;
  over = received.kind != Kind::kNothing;
  if (received.kind != Kind::kMessage || !received.attached.valid()) return nullptr;
  const ParsedMessage parsed = parseMessage(std::span(bytes).first(received.byteLength));
  os::SocketCredentials credentials;
  if (!parsed.valid || parsed.header.kind != MessageKind::kConnect ||
      !os::socketCredentials(handshake.socket.get(), credentials) ||
      credentials.userId != os::ownUserId()) {
    return nullptr;
  }
  adapter_.waitSet().remove(handshake.watch);  // the connector watches the socket from here on
  handshake.watch = 0;
  const Address local{.host = concrete(at_.host), .port = at_.port};
  const Peer peer{.address = {.host = local.host, .port = 0},
                  .processId = credentials.processId,
                  .userId = credentials.userId};
  auto connector = std::make_unique<SharedMemoryConnector>(adapter_);
  if (!connector->adoptRequest(std::move(handshake.socket), parsed.header, received.attached.get(),
                               parsed.privateData, peer, local)) {
    return nullptr;
  }
  return connector;
}

}  // namespace queuepair::shm
