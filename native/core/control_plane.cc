#include "core/control_plane.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace queuepair {
namespace {

Failure wrongState(const char* detail) { return {.fault = Fault::kInvalidState, .detail = detail}; }

Connection* connectionOf(const Connector& connector) noexcept {
  return static_cast<Connection*>(connector.context);
}

}  // namespace

void ControlPlane::execute(ControlRequest& request) {
  switch (request.kind) {
    case ControlKind::kListen:
      return listen(request);
    case ControlKind::kCloseListener:
      return closeListener(request.object);
    case ControlKind::kReleaseRegion:
      return releases_.begin(request.object);
    case ControlKind::kConnect:
    case ControlKind::kAccept:
    case ControlKind::kReject:
    case ControlKind::kDisconnect:
    case ControlKind::kDestroy:
    case ControlKind::kFlushReceives:
      return executeOnConnection(request);
  }
}

void ControlPlane::listen(ControlRequest& request) {
  Event event{.kind = EventKind::kListening, .object = request.object};
  ListenerEntry* entry = listeners_.get(request.object);
  if (entry == nullptr || entry->listener != nullptr) {
    event.failure = wrongState(entry == nullptr ? "no such listener" : "it listens already");
    events_.add(std::move(event));
    return;
  }
  entry->backlog = std::max(request.backlog, 1U);
  entry->listener = adapter_->listen(request.address, entry->backlog, event.failure);
  if (entry->listener != nullptr) {
    entry->listener->context = entry;
    event.localAddress = entry->listener->localAddress();
  } else if (!event.failure.failed()) {
    event.failure.fault = Fault::kInternal;
  }
  events_.add(std::move(event));
}

// Its unanswered requests stay answerable: they are connections of their own by now.
void ControlPlane::closeListener(Handle handle) {
  listeners_.remove(handle);
  events_.add({.kind = EventKind::kListenerClosed, .object = handle});
}

void ControlPlane::executeOnConnection(ControlRequest& request) {
  Connection* connection = connections_.find(request.object);
  if (connection == nullptr) {
    // Who waits for an end gets it. Who asked to destroy or reject has forgotten it already.
    if (request.kind == ControlKind::kConnect || request.kind == ControlKind::kAccept ||
        request.kind == ControlKind::kDisconnect) {
      events_.add({.kind = EventKind::kDisconnected,
                   .object = request.object,
                   .failure = wrongState("no such connection")});
    }
    return;
  }
  if (request.kind == ControlKind::kConnect) return connect(*connection, request);
  if (request.kind == ControlKind::kAccept) return accept(*connection, request);
  if (request.kind == ControlKind::kReject) return reject(*connection, request);
  if (request.kind == ControlKind::kDisconnect) return connections_.disconnect(*connection);
  if (request.kind == ControlKind::kDestroy) return connections_.destroy(*connection);
  connections_.flushReceives(*connection);
}

void ControlPlane::connect(Connection& connection, ControlRequest& request) {
  if (connection.state != ConnectionState::kIdle || connection.connector != nullptr) {
    return connections_.end(connection, wrongState("connect needs a new connection"));
  }
  Failure failure;
  connection.connector = adapter_->createConnector(failure);
  if (connection.connector == nullptr) {
    if (!failure.failed()) failure.fault = Fault::kInternal;
    return connections_.end(connection, std::move(failure));
  }
  connection.connector->context = &connection;
  if (!connections_.openPair(connection, request.sendDepth, request.receiveDepth, failure)) {
    return connections_.end(connection, std::move(failure));
  }
  connection.state = ConnectionState::kConnecting;
  settle(connection,
         connection.connector->connect(*connection.pair, request.address, request.privateData));
}

void ControlPlane::accept(Connection& connection, ControlRequest& request) {
  if (connection.state != ConnectionState::kIdle || connection.connector == nullptr) {
    return connections_.end(connection, wrongState("accept needs an unanswered request"));
  }
  connection.place.leave();
  Failure failure;
  if (!connections_.openPair(connection, request.sendDepth, request.receiveDepth, failure)) {
    return connections_.end(connection, std::move(failure));
  }
  connection.state = ConnectionState::kConnecting;
  settle(connection, connection.connector->accept(*connection.pair, request.privateData));
}

void ControlPlane::reject(Connection& connection, const ControlRequest& request) {
  const bool isRequest =
      connection.state == ConnectionState::kIdle && connection.connector != nullptr;
  if (isRequest) {
    connection.place.leave();
    const ControlResult result = connection.connector->reject(request.privateData);
    connection.destroyWanted = true;
    if (result.kind == ControlResult::Kind::kPending) return;  // onDisconnected ends it
  }
  connections_.destroy(connection);
}

void ControlPlane::settle(Connection& connection, ControlResult result) {
  if (result.kind == ControlResult::Kind::kDone) {
    connections_.establish(connection);
  } else if (result.kind == ControlResult::Kind::kFailed) {
    connections_.end(connection, std::move(result.failure));
  }
}

void ControlPlane::destroyListeners() {
  std::vector<Handle> all;
  listeners_.forEach([&](const ListenerEntry& entry) {
    all.push_back({entry.slot, entry.generation});
  });
  for (const Handle handle : all) closeListener(handle);
}

bool ControlPlane::admitsRequest(Listener& listener) {
  const auto* entry = static_cast<const ListenerEntry*>(listener.context);
  return entry != nullptr && *entry->unanswered < entry->backlog;
}

void ControlPlane::onConnectionRequest(Listener& listener, std::unique_ptr<Connector> connector) {
  const auto* entry = static_cast<const ListenerEntry*>(listener.context);
  if (entry == nullptr) return;
  const Connection* connection =
      connections_.adopt(std::move(connector), BacklogPlace(entry->unanswered));
  if (connection == nullptr) return;  // the table is full: the request went with its connector
  const std::span<const std::byte> privateData = connection->connector->privateData();
  events_.add({.kind = EventKind::kConnectionRequest,
               .object = connection->handle(),
               .listener = {entry->slot, entry->generation},
               .peer = connection->connector->peer(),
               .localAddress = connection->connector->localAddress(),
               .privateData = {privateData.begin(), privateData.end()}});
}

void ControlPlane::onEstablished(Connector& connector) {
  Connection* connection = connectionOf(connector);
  if (connection != nullptr) connections_.establish(*connection);
}

void ControlPlane::onDisconnected(Connector& connector, const Failure& why) {
  Connection* connection = connectionOf(connector);
  if (connection != nullptr) connections_.end(*connection, why);
}

void ControlPlane::onDeregistered(Region& region) { releases_.onDeregistered(region); }

}  // namespace queuepair
