// What one environment (a JavaScript thread) holds: the lanes that it owns, the lanes that it
// polls, and the references that keep their SharedArrayBuffers alive meanwhile.
//
// At the end of an environment its lanes' cleanup hooks run, newest first, before Node ends the
// thread-safe functions and drops the references. A worker's environment ends before that of the
// thread that started it. On process.exit only the workers' end; the main thread's never does.
#pragma once

#include <napi.h>

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "binding/lane_table.h"
#include "binding/value_reader.h"
#include "core/object_table.h"
#include "core/poller.h"

namespace queuepair::binding {

class OwnedLane {
 public:
  OwnedLane(Napi::Env env, LaneReference record, Napi::Object memory);
  ~OwnedLane();
  OwnedLane(const OwnedLane&) = delete;
  OwnedLane& operator=(const OwnedLane&) = delete;

  [[nodiscard]] Lane& lane() const noexcept { return *record_->lane; }
  [[nodiscard]] ThreadSafeWaker& waker() const noexcept { return record_->waker; }
  // A region's buffer must outlive the region, whose end puts the buffer's own pages back.
  void pin(Handle region, Napi::Object view);
  void unpin(Handle region);
  void requestStop() noexcept;
  // Ends the lane for everybody; idempotent, waits for nobody.
  void close();
  // Whether no other thread can be inside the lane any more; asked after close().
  [[nodiscard]] bool isAlone() const noexcept;

 private:
  static void onEnvironmentEnd(void* self);

  napi_env env_;
  Napi::ObjectReference memory_;
  std::unordered_map<std::uint64_t, Napi::ObjectReference> pins_;
  LaneReference record_;  // last, so that the lane is destroyed before its memory is let go
};

class AttachedLane {
 public:
  AttachedLane(Napi::Env env, LaneReference record, Napi::Object memory, PollingMode mode,
               std::uint64_t spinNanoseconds);
  ~AttachedLane();
  AttachedLane(const AttachedLane&) = delete;
  AttachedLane& operator=(const AttachedLane&) = delete;

  [[nodiscard]] Poller& poller() noexcept { return poller_; }

 private:
  static void onEnvironmentEnd(void* self);

  napi_env env_;
  Napi::ObjectReference memory_;
  LaneReference record_;
  Poller poller_;
};

class Environment {
 public:
  static Environment& of(Napi::Env env);

  OwnedLane& own(Napi::Env env, LaneReference record, Napi::Object memory);
  // Null when this thread does not own the lane, or no more.
  [[nodiscard]] OwnedLane* owned(std::uint32_t id) const;
  void close(std::uint32_t id);

  void attach(Napi::Env env, LaneReference record, Napi::Object memory, PollingMode mode,
              std::uint64_t spinNanoseconds);
  // Null when this thread does not poll the lane.
  [[nodiscard]] Poller* poller(std::uint32_t id) const;

 private:
  void dropAbandoned();

  std::unordered_map<std::uint32_t, std::unique_ptr<OwnedLane>> owned_;
  std::unordered_map<std::uint32_t, std::unique_ptr<AttachedLane>> attached_;
  // Closed while another thread was still inside: kept, with its memory, until that thread is out.
  std::vector<std::unique_ptr<OwnedLane>> abandoned_;
};

// The lane that the first argument names. Null when this thread does not own it, or the argument is
// wrong, which throws.
OwnedLane* ownedLane(const Napi::CallbackInfo& info, ValueReader& reader);

}  // namespace queuepair::binding
