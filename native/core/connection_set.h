// All connections of a lane and the work in flight on them: posting in order, completing, and
// ending a connection so that every operation has completed before anyone hears of the end. Under
// the token, but for create().
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/completion_writer.h"
#include "core/connection.h"
#include "core/control_queue.h"
#include "core/fault.h"
#include "core/object_table.h"
#include "core/operation_table.h"
#include "core/provider.h"
#include "core/shared_header.h"

namespace queuepair {

class ConnectionSet {
 public:
  ConnectionSet(SharedHeader header, std::uint32_t operationSlots, CompletionWriter& completions,
                EventQueue& events, FaultInjector& faults)
      : header_(header),
        operations_(operationSlots),
        completions_(completions),
        events_(events),
        faults_(faults) {}

  // Any thread.
  Handle create() { return table_.insert(std::make_unique<Connection>()); }

  void attach(Adapter& adapter, CompletionQueue& queue) noexcept {
    adapter_ = &adapter;
    queue_ = &queue;
  }
  [[nodiscard]] bool valid() const noexcept { return operations_.valid(); }
  [[nodiscard]] Connection* find(Handle handle) const noexcept { return table_.get(handle); }
  [[nodiscard]] bool slotIsFree(std::uint32_t slot) const noexcept {
    return operations_.isFree(slot);
  }

  // --- work ---
  // The op slot is free. Posts at once what can be posted; the rest waits in order.
  void submit(Connection& connection, const WorkRequest& request);
  bool moveWaiting();  // true: something was posted or flushed
  void ringDoorbells();
  void finish(const WorkCompletion& completion);
  // Some work could be posted, but the provider said "again".
  [[nodiscard]] bool anyWaits() const noexcept { return !waiting_.empty(); }
  // Completions of operations that nobody has in flight: a provider's mistake.
  [[nodiscard]] std::uint64_t unknownCompletions() const noexcept { return unknownCompletions_; }

  // --- a connection's life ---
  // Its queue pair, at most the depths that the adapter has. False: `failure` says why.
  bool openPair(Connection& connection, std::uint32_t sendDepth, std::uint32_t receiveDepth,
                Failure& failure);
  void establish(Connection& connection);
  void flushReceives(Connection& connection);
  void disconnect(Connection& connection);  // in order: after the sends that wait
  // Only marks, so that a provider may be calling us: the pair is told by failEnding().
  void end(Connection& connection, Failure why);
  void endAll(Fault fault, const char* detail);
  void destroy(Connection& connection);  // ends it if need be, then kDestroyed
  void failEnding();
  bool finishEnding();  // true: something ended
  [[nodiscard]] bool anyEnding() const noexcept { return !ending_.empty(); }
  // A request that came in, in the state of one that create() made. Null: the table is full.
  Connection* adopt(std::unique_ptr<Connector> connector, BacklogPlace place);

  // For shutdown: provider objects go at once, whatever is in flight completes as flushed.
  void destroyAll();

 private:
  PostResult post(Connection& connection, WorkSide& side, const WorkRequest& request,
                  Operation& operation);
  bool move(Connection& connection, WorkSide& side);
  void flushWaiting(WorkSide& side);
  void flush(std::uint64_t id, Operation& operation);
  void noteWaiting(Connection& connection, const WorkSide& side);
  void disconnectDrained(Connection& connection);
  void countPost(Opcode opcode) const noexcept;
  void releaseProviderObjects(Connection& connection);
  void reportEnd(Connection& connection);
  void forget(Connection& connection);

  SharedHeader header_;
  OperationTable operations_;
  CompletionWriter& completions_;
  EventQueue& events_;
  FaultInjector& faults_;
  Adapter* adapter_ = nullptr;
  CompletionQueue* queue_ = nullptr;
  ObjectTable<Connection> table_;
  std::vector<Connection*> waiting_{};    // with work that may move
  std::vector<Connection*> doorbells_{};  // posted to since the last ring
  std::vector<Connection*> ending_{};
  std::uint64_t unknownCompletions_ = 0;
};

}  // namespace queuepair
