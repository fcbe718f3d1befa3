// The work of connections; their lives are in connection_life.cc.
#include "core/connection_set.h"

namespace queuepair {

void ConnectionSet::submit(Connection& connection, const WorkRequest& request) {
  WorkSide& side = connection.side(request.opcode);
  Operation& operation = operations_.begin(request, connection);
  if (side.waiting.empty() && side.mayPost() &&
      post(connection, side, request, operation) == PostResult::kPosted) {
    return;
  }
  side.waiting.push(request);
  noteWaiting(connection, side);
}

PostResult ConnectionSet::post(Connection& connection, WorkSide& side, const WorkRequest& request,
                               Operation& operation) {
  PostResult result = PostResult::kAgain;
  std::uint64_t unused = 0;
  if (!faults_.fires(FaultPoint::kPostAgain, unused)) {
    result = request.opcode == Opcode::kReceive ? connection.pair->postReceive(request)
                                                : connection.pair->postSend(request);
  }
  if (result == PostResult::kAgain) header_.count(layout::kPostAgain);
  if (result == PostResult::kRefused) side.closed = true;  // its notice is on the way
  if (result != PostResult::kPosted) return result;
  operation.posted = true;
  ++side.posted;
  countPost(request.opcode);
  if (!connection.hasDoorbell) {
    connection.hasDoorbell = true;
    doorbells_.push_back(&connection);
  }
  return result;
}

bool ConnectionSet::moveWaiting() {
  bool moved = false;
  for (std::size_t index = 0; index < waiting_.size();) {
    Connection& connection = *waiting_[index];
    moved |= move(connection, connection.receives);
    moved |= move(connection, connection.sends);
    if (connection.disconnectWanted) disconnectDrained(connection);
    if (connection.receives.mayMove() || connection.sends.mayMove()) {
      ++index;
      continue;
    }
    connection.waits = false;
    waiting_[index] = waiting_.back();
    waiting_.pop_back();
  }
  return moved;
}

bool ConnectionSet::move(Connection& connection, WorkSide& side) {
  bool moved = false;
  while (!side.waiting.empty() && side.mayPost()) {
    const WorkRequest& request = side.waiting.front();
    Operation& operation = *operations_.find(request.id);
    if (post(connection, side, request, operation) != PostResult::kPosted) break;
    side.waiting.pop();
    moved = true;
  }
  if (side.waiting.empty() || !side.mayFlush()) return moved;
  flushWaiting(side);
  return true;
}

void ConnectionSet::flushWaiting(WorkSide& side) {
  while (!side.waiting.empty()) {
    const std::uint64_t id = side.waiting.front().id;
    flush(id, *operations_.find(id));
    side.waiting.pop();
  }
}

void ConnectionSet::flush(std::uint64_t id, Operation& operation) {
  const Opcode opcode = operation.opcode;
  operations_.end(operation);
  completions_.complete({.id = id,
                         .context = nullptr,
                         .opcode = opcode,
                         .status = Status::kFlushed,
                         .flags = 0,
                         .immediate = 0,
                         .byteLength = 0,
                         .result = 0},
                        opcode);
}

void ConnectionSet::ringDoorbells() {
  for (Connection* connection : doorbells_) {
    connection->hasDoorbell = false;
    if (connection->pair != nullptr) connection->pair->ringDoorbell();
  }
  doorbells_.clear();
}

void ConnectionSet::finish(const WorkCompletion& completion) {
  Operation* operation = operations_.find(completion.id);
  if (operation == nullptr || !operation->posted) {
    ++unknownCompletions_;
    return;
  }
  Connection& connection = *operation->connection;
  const Opcode opcode = operation->opcode;
  operations_.end(*operation);
  completions_.complete(completion, opcode);
  WorkSide& side = connection.side(opcode);
  --side.posted;
  // A flush that was not asked for says that the pair is in error.
  const bool asked = completion.status == Status::kFlushed && side.closed;
  if (completion.status != Status::kSuccess && !asked) {
    end(connection, {.fault = Fault::kOperationFailed, .status = completion.status});
  }
  noteWaiting(connection, side);
}

void ConnectionSet::noteWaiting(Connection& connection, const WorkSide& side) {
  if (connection.waits || !side.mayMove()) return;
  connection.waits = true;
  waiting_.push_back(&connection);
}

void ConnectionSet::countPost(Opcode opcode) const noexcept {
  switch (opcode) {
    case Opcode::kSend:
      return header_.count(layout::kPostsSend);
    case Opcode::kReceive:
      return header_.count(layout::kPostsReceive);
    case Opcode::kRead:
      return header_.count(layout::kPostsRead);
    case Opcode::kWrite:
      return header_.count(layout::kPostsWrite);
    case Opcode::kFetchAdd:
    case Opcode::kCompareSwap:
      return header_.count(layout::kPostsAtomic);
    case Opcode::kFlush:
      return;
  }
}

}  // namespace queuepair
