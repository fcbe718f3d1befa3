// How a connection comes to be: request, acceptance or rejection, readiness.
#include <cerrno>

#include "core/providers/shm/adapter.h"
#include "core/providers/shm/connector.h"
#include "core/providers/shm/listener.h"
#include "core/providers/shm/message.h"

namespace queuepair::shm {
namespace {

// A full backlog empties as soon as the listener steps once.
constexpr std::uint64_t kRetryNanoseconds = 2'000'000;

}  // namespace

// --- the active side ---

Failure SharedMemoryConnector::tryConnect(std::uint64_t nowNanoseconds) {
  const int error = os::connectSocket(link_.socket(), socketName(peer_.address.port));
  if (error == EAGAIN) {
    state_ = State::kConnecting;
    retryAt_ = nowNanoseconds + kRetryNanoseconds;
    adapter_.activate(*this);
    return {};
  }
  retryAt_ = 0;
  if (error == ECONNREFUSED) {
    return {.fault = Fault::kUnreachable, .osError = error, .detail = "nobody listens there"};
  }
  if (error != 0) {
    return {.fault = Fault::kOutOfResources, .osError = error, .detail = "no socket connection"};
  }
  os::SocketCredentials credentials;
  if (!os::socketCredentials(link_.socket(), credentials) ||
      credentials.userId != os::ownUserId()) {
    return {.fault = Fault::kPermission, .detail = "another user's process listens there"};
  }
  peer_.processId = credentials.processId;
  peer_.userId = credentials.userId;
  return sendRequest();
}

Failure SharedMemoryConnector::sendRequest() {
  const Geometry geometry = Geometry::forDepth(pair_->depth());
  const os::FileDescriptor memory = link_.createMemory(geometry);
  if (!memory.valid()) {
    return {.fault = Fault::kOutOfResources, .osError = errno, .detail = "no shared memory"};
  }
  Message message;
  message.kind = MessageKind::kConnect;
  message.recordCapacity = geometry.recordCapacity;
  message.stagingBytes = geometry.stagingBytes;
  message.importCount = link_.imports().countLimit();
  message.importBytes = link_.imports().byteLimit();
  if (const int error = send(message, privateData_, memory.get()); error != 0) {
    return {.fault = Fault::kOutOfResources, .osError = error, .detail = "the request is stuck"};
  }
  privateData_.clear();
  if (!watchSocket()) {
    return {.fault = Fault::kOutOfResources, .osError = errno, .detail = "the wait set is full"};
  }
  state_ = State::kRequesting;
  return {};
}

void SharedMemoryConnector::onAccepted(const Message& message,
                                       std::span<const std::byte> privateData) {
  privateData_.assign(privateData.begin(), privateData.end());
  link_.exports().setLimits(message.importCount, message.importBytes);
  Message ready;
  ready.kind = MessageKind::kReady;
  if (const int error = send(ready, {}); error != 0) {
    return link_.fail(Fault::kOutOfResources, "the answer is stuck", error);
  }
  establish();
}

void SharedMemoryConnector::onRejected(const Message& message,
                                       std::span<const std::byte> privateData) {
  privateData_.assign(privateData.begin(), privateData.end());
  if (message.reason == RejectReason::kBacklogFull) {
    link_.fail(Fault::kBacklogFull, "the listener has too many unanswered requests");
  } else {
    link_.fail(Fault::kRejected, "the peer's program rejected the request");
  }
}

// --- the passive side ---

bool SharedMemoryConnector::adoptRequest(os::FileDescriptor socket, const Message& request,
                                         int memory, std::span<const std::byte> privateData,
                                         Peer peer, Address local) {
  const Geometry geometry{.recordCapacity = request.recordCapacity,
                          .stagingBytes = request.stagingBytes};
  if (!geometry.valid() || !link_.mapMemory(memory, geometry)) return false;
  link_.adoptSocket(std::move(socket));
  link_.exports().setLimits(request.importCount, request.importBytes);
  privateData_.assign(privateData.begin(), privateData.end());
  peer_ = std::move(peer);
  local_ = std::move(local);
  state_ = State::kRequested;
  return watchSocket();
}

void SharedMemoryConnector::sendReject(RejectReason reason,
                                       std::span<const std::byte> privateData) {
  Message message;
  message.kind = MessageKind::kReject;
  message.reason = reason;
  send(message, privateData);  // a peer that is gone needs no answer
  state_ = State::kEnded;
  unwatchSocket();
  link_.closeSocket();
}

// --- both ---

void SharedMemoryConnector::establish() {
  state_ = State::kEstablished;
  establishedUnreported_ = true;
  pair_->establish();
  adapter_.activate(*this);
}

}  // namespace queuepair::shm
