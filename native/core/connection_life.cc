// The lives of connections: their queue pairs, their beginning, and an end that nobody hears of
// before the last operation has completed.
#include <algorithm>

#include "core/connection_set.h"

namespace queuepair {
namespace {

std::uint32_t fitDepth(std::uint32_t wanted, std::uint32_t most) noexcept {
  return std::clamp(wanted, 1U, most == 0 ? UINT32_MAX : most);
}

std::vector<std::byte> copyOf(std::span<const std::byte> bytes) {
  return {bytes.begin(), bytes.end()};
}

}  // namespace

bool ConnectionSet::openPair(Connection& connection, std::uint32_t sendDepth,
                             std::uint32_t receiveDepth, Failure& failure) {
  const std::uint32_t most = adapter_->limits().maxDepth;
  // Half of the range each, so that the sum cannot overflow.
  connection.sends.depth = std::min(fitDepth(sendDepth, most), UINT32_MAX / 2);
  connection.receives.depth = std::min(fitDepth(receiveDepth, most), UINT32_MAX / 2);
  const std::uint32_t slots = connection.sends.depth + connection.receives.depth;
  if (!queue_->reserve(slots)) {
    failure = {.fault = Fault::kOutOfResources, .detail = "the completion queue cannot grow"};
    return false;
  }
  connection.reservedSlots = slots;
  connection.pair = adapter_->createQueuePair(*queue_,
                                              {.sendDepth = connection.sends.depth,
                                               .receiveDepth = connection.receives.depth,
                                               .context = &connection},
                                              failure);
  if (connection.pair == nullptr) {
    if (!failure.failed()) failure.fault = Fault::kOutOfResources;
    return false;
  }
  connection.receives.open = true;
  if (connection.receives.closed) connection.pair->flushReceives();
  move(connection, connection.receives);
  noteWaiting(connection, connection.receives);
  ringDoorbells();
  return true;
}

void ConnectionSet::establish(Connection& connection) {
  if (connection.state != ConnectionState::kConnecting) return;
  connection.state = ConnectionState::kEstablished;
  connection.sends.open = true;
  noteWaiting(connection, connection.sends);
  events_.add({.kind = EventKind::kEstablished,
               .object = connection.handle(),
               .peer = connection.connector->peer(),
               .localAddress = connection.connector->localAddress(),
               .privateData = copyOf(connection.connector->privateData())});
}

void ConnectionSet::flushReceives(Connection& connection) {
  if (connection.over() || connection.receives.closed) return;
  connection.receives.closed = true;
  if (connection.pair != nullptr) connection.pair->flushReceives();
  noteWaiting(connection, connection.receives);
}

void ConnectionSet::disconnect(Connection& connection) {
  if (connection.over() || connection.disconnectWanted) return;
  if (connection.state != ConnectionState::kEstablished) {
    end(connection, {.fault = Fault::kClosedLocally});
    return;
  }
  connection.disconnectWanted = true;
  disconnectDrained(connection);
}

void ConnectionSet::disconnectDrained(Connection& connection) {
  if (!connection.sends.waiting.empty() || connection.over()) return;
  connection.disconnectWanted = false;
  if (connection.sends.closed) return;  // asked for before, or the pair is in error
  connection.sends.closed = true;       // what is sent from now on would come after the end
  ControlResult result = connection.connector->disconnect();
  if (result.kind == ControlResult::Kind::kPending) return;
  if (result.kind == ControlResult::Kind::kDone) result.failure.fault = Fault::kClosedLocally;
  end(connection, std::move(result.failure));
}

void ConnectionSet::end(Connection& connection, Failure why) {
  if (connection.over()) return;
  connection.state = ConnectionState::kEnding;
  connection.failure = std::move(why);
  connection.place.leave();
  connection.sends.closed = true;
  connection.receives.closed = true;
  ending_.push_back(&connection);
}

void ConnectionSet::endAll(Fault fault, const char* detail) {
  table_.forEach(
      [&](Connection& connection) { end(connection, {.fault = fault, .detail = detail}); });
}

void ConnectionSet::destroy(Connection& connection) {
  if (connection.state == ConnectionState::kEnded) {
    forget(connection);
    return;
  }
  connection.destroyWanted = true;
  end(connection, {.fault = Fault::kClosedLocally});
}

void ConnectionSet::failEnding() {
  for (Connection* connection : ending_) {
    if (connection->pairFailed) continue;
    connection->pairFailed = true;
    if (connection->pair != nullptr) connection->pair->fail();
  }
}

bool ConnectionSet::finishEnding() {
  const auto isBack = [](const Connection* connection) {
    return connection->pairFailed && connection->sends.posted == 0 &&
           connection->receives.posted == 0;
  };
  bool finished = false;
  for (std::size_t index = 0; index < ending_.size();) {
    Connection& connection = *ending_[index];
    if (!isBack(&connection)) {
      ++index;
      continue;
    }
    ending_.erase(ending_.begin() + static_cast<std::ptrdiff_t>(index));
    flushWaiting(connection.sends);
    flushWaiting(connection.receives);
    reportEnd(connection);
    finished = true;
  }
  return finished;
}

void ConnectionSet::reportEnd(Connection& connection) {
  connection.state = ConnectionState::kEnded;
  std::vector<std::byte> privateData;
  if (connection.failure.fault == Fault::kRejected && connection.connector != nullptr) {
    privateData = copyOf(connection.connector->privateData());
  }
  releaseProviderObjects(connection);
  if (connection.destroyWanted) {
    forget(connection);
    return;
  }
  events_.add({.kind = EventKind::kDisconnected,
               .object = connection.handle(),
               .failure = connection.failure,
               .privateData = std::move(privateData)});
}

void ConnectionSet::releaseProviderObjects(Connection& connection) {
  connection.connector = nullptr;
  connection.pair = nullptr;
  if (connection.reservedSlots > 0) queue_->release(connection.reservedSlots);
  connection.reservedSlots = 0;
}

void ConnectionSet::forget(Connection& connection) {
  std::erase(waiting_, &connection);
  std::erase(doorbells_, &connection);
  events_.add({.kind = EventKind::kDestroyed,
               .object = connection.handle(),
               .failure = std::move(connection.failure)});
  table_.remove(connection.handle());
}

Connection* ConnectionSet::adopt(std::unique_ptr<Connector> connector, BacklogPlace place) {
  Connection* connection = table_.get(create());
  if (connection == nullptr) return nullptr;
  connector->context = connection;
  connection->connector = std::move(connector);
  connection->place = std::move(place);
  return connection;
}

void ConnectionSet::destroyAll() {
  std::vector<Connection*> all;
  table_.forEach([&](Connection& connection) { all.push_back(&connection); });
  for (Connection* connection : all) destroy(*connection);
  for (Connection* connection : ending_) connection->connector = nullptr;
  for (Connection* connection : ending_) connection->pair = nullptr;
  // Now no provider touches memory for them any more. Posted before waiting, as everywhere.
  operations_.forEachActive([&](std::uint64_t id, Operation& operation) {
    if (!operation.posted) return;
    --operation.connection->side(operation.opcode).posted;
    flush(id, operation);
  });
  failEnding();
  finishEnding();
}

}  // namespace queuepair
