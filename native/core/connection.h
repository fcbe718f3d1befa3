// One connection: its provider objects, its state, and the work of its two directions. Under the
// token; connection_set.h has what is done with it.
#pragma once

#include <cstdint>
#include <memory>

#include "core/object_table.h"
#include "core/provider.h"
#include "core/status.h"
#include "core/work_queue.h"

namespace queuepair {

// One direction. Work is posted in order, never more than `depth` at once; the rest waits.
struct WorkSide {
  WorkQueue waiting{};
  std::uint32_t posted = 0;
  std::uint32_t depth = 0;
  bool open = false;    // the provider may be given work
  bool closed = false;  // nothing more is posted: what waits is flushed after what is posted

  [[nodiscard]] bool mayPost() const noexcept { return open && !closed && posted < depth; }
  [[nodiscard]] bool mayFlush() const noexcept { return closed && posted == 0; }
  [[nodiscard]] bool mayMove() const noexcept {
    return !waiting.empty() && (mayPost() || mayFlush());
  }
};

// A place in a listener's backlog, held by a request until it is answered or gone.
class BacklogPlace {
 public:
  BacklogPlace() = default;
  explicit BacklogPlace(std::shared_ptr<std::uint32_t> taken) noexcept : taken_(std::move(taken)) {
    ++*taken_;
  }
  ~BacklogPlace() { leave(); }
  BacklogPlace(BacklogPlace&& other) noexcept = default;
  BacklogPlace& operator=(BacklogPlace&& other) noexcept {
    leave();
    taken_ = std::move(other.taken_);
    return *this;
  }
  void leave() noexcept {
    if (taken_ != nullptr) --*taken_;
    taken_ = nullptr;
  }

 private:
  std::shared_ptr<std::uint32_t> taken_{};  // shared with the listener, which may be gone first
};

enum class ConnectionState : std::uint8_t {
  kIdle,        // created, or a request that waits for its answer
  kConnecting,  // connect or accept was called
  kEstablished,
  kEnding,  // over, but posted work has not come back yet
  kEnded,   // all completions are published, and kDisconnected after them
};

struct Connection {
  std::uint32_t slot = 0;  // its name, set by the table
  std::uint32_t generation = 0;
  ConnectionState state = ConnectionState::kIdle;
  bool disconnectWanted = false;  // in order, once no send waits any more
  bool destroyWanted = false;     // the end is kDestroyed in place of kDisconnected
  bool pairFailed = false;        // while ending: the pair was told
  bool waits = false;             // is in the set's list of connections with work to move
  bool hasDoorbell = false;       // is in the set's list of connections to ring
  std::uint32_t reservedSlots = 0;
  Failure failure{};
  BacklogPlace place{};
  std::unique_ptr<QueuePair> pair{};
  std::unique_ptr<Connector> connector{};  // goes before the pair
  WorkSide sends{};
  WorkSide receives{};

  [[nodiscard]] Handle handle() const noexcept { return {slot, generation}; }
  [[nodiscard]] bool over() const noexcept { return state >= ConnectionState::kEnding; }
  [[nodiscard]] WorkSide& side(Opcode opcode) noexcept {
    return opcode == Opcode::kReceive ? receives : sends;
  }
};

}  // namespace queuepair
