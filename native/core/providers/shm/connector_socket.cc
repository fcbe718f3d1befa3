// What comes over a connection's socket: the handshake's messages, exports, doorbells, the end.
#include <array>
#include <cerrno>

#include "core/providers/shm/adapter.h"
#include "core/providers/shm/connector.h"
#include "core/providers/shm/message.h"

namespace queuepair::shm {
namespace {

// A socket holds some three hundred messages; a peer that sends faster than we read waits its turn.
constexpr int kMaxMessagesPerRead = 1024;

}  // namespace

bool SharedMemoryConnector::watchSocket() {
  watch_ = adapter_.waitSet().add(link_.socket(), true, false, this);
  return watch_ != 0;
}

void SharedMemoryConnector::unwatchSocket() {
  if (watch_ != 0) adapter_.waitSet().remove(watch_);
  watch_ = 0;
}

// 0 or errno. A broken socket counts as sent: it is reported when its end is read.
int SharedMemoryConnector::send(const Message& message, std::span<const std::byte> privateData,
                                int attached) noexcept {
  const int error = sendMessage(link_.socket(), message, privateData, attached);
  return error == EPIPE || error == ECONNRESET ? 0 : error;
}

void SharedMemoryConnector::onReady(bool, bool, bool) {
  socketReady_ = true;
  adapter_.activate(*this);
}

void SharedMemoryConnector::readSocket() {
  std::array<std::byte, kMaxMessageBytes> bytes{};
  for (int i = 0; i < kMaxMessagesPerRead; ++i) {
    if (socketEnded_ || link_.failure().failed()) break;
    const os::SocketMessage received = os::receiveSocketMessage(link_.socket(), bytes);
    switch (received.kind) {
      case os::SocketMessage::Kind::kMessage:
        onMessage(std::span(bytes).first(received.byteLength), received.attached.get());
        continue;
      case os::SocketMessage::Kind::kNothing:
        socketReady_ = false;
        return;
      case os::SocketMessage::Kind::kEnd:
        return onSocketEnd();
      case os::SocketMessage::Kind::kTruncated:
        return link_.failProtocol("it sent an oversized message");
      case os::SocketMessage::Kind::kNoDescriptor:
        return link_.fail(Fault::kOutOfResources, "no descriptor left for its memory", EMFILE);
    }
  }
}

void SharedMemoryConnector::onMessage(std::span<const std::byte> bytes, int attached) {
  if (bytes.size() == 1) return link_.rearm();  // the doorbell
  const ParsedMessage parsed = parseMessage(bytes);
  if (!parsed.valid) return link_.failProtocol("it sent a malformed message");
  const Message& message = parsed.header;
  const auto isDue = [&](MessageKind kind, State state) {
    return message.kind == kind && state_ == state;
  };
  if (isDue(MessageKind::kAccept, State::kRequesting)) {
    onAccepted(message, parsed.privateData);
  } else if (isDue(MessageKind::kReject, State::kRequesting)) {
    onRejected(message, parsed.privateData);
  } else if (isDue(MessageKind::kReady, State::kAccepting)) {
    establish();
  } else if (isDue(MessageKind::kExport, State::kEstablished)) {
    onExport(message, attached);
  } else if (isDue(MessageKind::kUnexport, State::kEstablished)) {
    onUnexport(message);
  } else {
    link_.failProtocol("it sent a message out of turn");
  }
}

void SharedMemoryConnector::onExport(const Message& message, int attached) {
  switch (link_.imports().add(message.exportIndex, message.exportGeneration, message.exportBytes,
                              attached)) {
    case ImportTable::AddResult::kAdded:
      return;
    case ImportTable::AddResult::kRefused:
      return link_.failProtocol("it exported memory that cannot be mapped safely");
    case ImportTable::AddResult::kNoMemory:
      return link_.fail(Fault::kOutOfResources, "its memory cannot be mapped", errno);
  }
}

void SharedMemoryConnector::onUnexport(const Message& message) {
  if (link_.imports().remove(message.exportIndex, message.exportGeneration)) return;
  link_.failProtocol("it withdrew what it never exported");
}

void SharedMemoryConnector::onSocketEnd() {
  socketReady_ = false;
  socketEnded_ = true;
  unwatchSocket();  // level-triggered: the end would be reported for ever
  if (pair_ != nullptr) pair_->onPeerGone();
}

void SharedMemoryConnector::withdraw(const Region& region) {
  link_.exports().withdraw(region);
  if (link_.exports().hasWithdrawals()) sendWithdrawals();
}

// Where the socket is full they are sent when there is room again, and nothing is lost: the
// region's pages live on in the peer's mapping until then.
void SharedMemoryConnector::sendWithdrawals() {
  const bool waits = !link_.exports().sendWithdrawals(link_.socket());
  if (waits == waitsForSpace_ || watch_ == 0) return;
  waitsForSpace_ = waits;
  adapter_.waitSet().change(watch_, true, waits);
}

}  // namespace queuepair::shm
