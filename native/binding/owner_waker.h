// Wakes the owner's event loop through one thread-safe function, with at most one call queued.
#pragma once

#include <napi.h>

#include <atomic>
#include <mutex>

#include "core/lane.h"

namespace queuepair::binding {

class ThreadSafeWaker final : public OwnerWaker {
 public:
  ThreadSafeWaker() = default;
  ~ThreadSafeWaker() override = default;  // close() first, on the owner's thread
  ThreadSafeWaker(const ThreadSafeWaker&) = delete;
  ThreadSafeWaker& operator=(const ThreadSafeWaker&) = delete;

  // --- the owner's thread ---
  // False when Node refuses. Does not keep the event loop alive.
  bool open(Napi::Env env, const Napi::Function& onWake);
  void keepAlive(bool alive);
  // Idempotent. Later wakes do nothing, and `onWake` is not called again.
  void close();

  // --- any thread ---
  void wake() noexcept override;

 private:
  // On the owner's thread, from its event loop.
  static void deliver(napi_env env, napi_value onWake, void* waker, void* unused);

  std::mutex mutex_;  // held while Node's function is used, so that close() waits for a wake
  napi_threadsafe_function function_ = nullptr;  // null: not open
  std::atomic<bool> wakePending_{false};
  napi_env env_ = nullptr;
};

}  // namespace queuepair::binding
