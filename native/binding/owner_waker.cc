#include "binding/owner_waker.h"

#include <utility>

namespace queuepair::binding {
namespace {

// Node only warns of an exception in such a callback (DEP0168); this makes it an uncaughtException,
// as for any other callback. A terminating environment has no exception to report.
void reportException(napi_env env) {
  bool pending = false;
  napi_value error = nullptr;
  if (napi_is_exception_pending(env, &pending) != napi_ok || !pending) return;
  if (napi_get_and_clear_last_exception(env, &error) != napi_ok) return;
  napi_fatal_exception(env, error);
}

}  // namespace

bool ThreadSafeWaker::open(Napi::Env env, const Napi::Function& onWake) {
  const Napi::String name = Napi::String::New(env, "queuepair");
  constexpr std::size_t kUnboundedQueue = 0;  // wakePending_ is the bound
  napi_threadsafe_function function = nullptr;
  if (napi_create_threadsafe_function(env, onWake, nullptr, name, kUnboundedQueue, 1, nullptr,
                                      nullptr, this, deliver, &function) != napi_ok) {
    return false;
  }
  napi_unref_threadsafe_function(env, function);
  env_ = env;
  const std::lock_guard lock(mutex_);
  function_ = function;
  return true;
}

void ThreadSafeWaker::keepAlive(bool alive) {
  const std::lock_guard lock(mutex_);
  if (function_ == nullptr) return;
  if (alive) {
    napi_ref_threadsafe_function(env_, function_);
  } else {
    napi_unref_threadsafe_function(env_, function_);
  }
}

void ThreadSafeWaker::close() {
  const std::lock_guard lock(mutex_);
  napi_threadsafe_function function = std::exchange(function_, nullptr);
  // Abort: a call that is still queued is dropped, and Node frees the function by itself.
  if (function != nullptr) napi_release_threadsafe_function(function, napi_tsfn_abort);
}

void ThreadSafeWaker::wake() noexcept {
  if (wakePending_.exchange(true)) return;
  const std::lock_guard lock(mutex_);
  if (function_ == nullptr) return;
  const napi_status status =
      napi_call_threadsafe_function(function_, nullptr, napi_tsfn_nonblocking);
  if (status == napi_ok) return;
  // Node gave up our hold on the function together with this answer: it may not be used again.
  if (status == napi_closing) function_ = nullptr;
  wakePending_.store(false);
}

void ThreadSafeWaker::deliver(napi_env env, napi_value onWake, void* waker, void* /*unused*/) {
  // Without an environment this is a call dropped after close(), when the waker may be gone.
  if (env == nullptr || onWake == nullptr) return;
  // Before JavaScript looks for news: what is published later finds the flag clear and wakes again.
  static_cast<ThreadSafeWaker*>(waker)->wakePending_.store(false);
  napi_value receiver = nullptr;
  if (napi_get_undefined(env, &receiver) != napi_ok) return;
  if (napi_call_function(env, receiver, onWake, 0, nullptr, nullptr) != napi_ok) {
    reportException(env);
  }
}

}  // namespace queuepair::binding
