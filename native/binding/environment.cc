#include "binding/environment.h"

#include <utility>

namespace queuepair::binding {
namespace {

std::uint64_t pinKey(Handle region) noexcept {
  return (std::uint64_t{region.generation} << 32) | region.slot;
}

}  // namespace

OwnedLane::OwnedLane(Napi::Env env, LaneReference record, Napi::Object memory)
    : env_(env), memory_(Napi::Persistent(memory)), record_(std::move(record)) {
  // After the waker was opened, whose own hook Node registered then: this one runs before it.
  napi_add_env_cleanup_hook(env_, onEnvironmentEnd, this);
}

OwnedLane::~OwnedLane() {
  if (record_ != nullptr) napi_remove_env_cleanup_hook(env_, onEnvironmentEnd, this);
}

void OwnedLane::onEnvironmentEnd(void* self) {
  auto* const owned = static_cast<OwnedLane*>(self);
  owned->close();
  // The poller and the pool's threads were this thread's workers and have been joined, so this
  // destroys the lane. The references go with the environment.
  owned->record_.reset();
}

void OwnedLane::pin(Handle region, Napi::Object view) {
  pins_.insert_or_assign(pinKey(region), Napi::Persistent(view));
}

void OwnedLane::unpin(Handle region) { pins_.erase(pinKey(region)); }

void OwnedLane::requestStop() noexcept {
  record_->stopping.store(true);
  record_->lane->requestStop();
  record_->lane->ring();
}

void OwnedLane::close() {
  forgetLane(record_->id);
  record_->waker.close();
  requestStop();
}

bool OwnedLane::isAlone() const noexcept {
  // Nobody can find the record any more, so the count only falls.
  if (record_.use_count() != 1) return false;
  std::atomic_thread_fence(std::memory_order_acquire);  // with the release of whoever left last
  return true;
}

AttachedLane::AttachedLane(Napi::Env env, LaneReference record, Napi::Object memory,
                           PollingMode mode, std::uint64_t spinNanoseconds)
    : env_(env),
      memory_(Napi::Persistent(memory)),
      record_(std::move(record)),
      poller_(*record_->lane, mode, spinNanoseconds) {
  napi_add_env_cleanup_hook(env_, onEnvironmentEnd, this);
}

AttachedLane::~AttachedLane() {
  if (record_ != nullptr) napi_remove_env_cleanup_hook(env_, onEnvironmentEnd, this);
}

void AttachedLane::onEnvironmentEnd(void* self) {
  auto* const attached = static_cast<AttachedLane*>(self);
  // Here, since on process.exit no hook of the owner runs, and peers must see the end.
  attached->record_->lane->shutdown();
  attached->record_.reset();
}

Environment& Environment::of(Napi::Env env) { return *env.GetInstanceData<Environment>(); }

OwnedLane& Environment::own(Napi::Env env, LaneReference record, Napi::Object memory) {
  dropAbandoned();
  const std::uint32_t id = record->id;
  auto owned = std::make_unique<OwnedLane>(env, std::move(record), memory);
  return *owned_.emplace(id, std::move(owned)).first->second;
}

OwnedLane* Environment::owned(std::uint32_t id) const {
  const auto found = owned_.find(id);
  return found == owned_.end() ? nullptr : found->second.get();
}

void Environment::close(std::uint32_t id) {
  const auto found = owned_.find(id);
  if (found == owned_.end()) return;
  found->second->close();
  abandoned_.push_back(std::move(found->second));
  owned_.erase(found);
  dropAbandoned();
}

void Environment::dropAbandoned() {
  std::erase_if(abandoned_, [](const auto& lane) { return lane->isAlone(); });
}

void Environment::attach(Napi::Env env, LaneReference record, Napi::Object memory, PollingMode mode,
                         std::uint64_t spinNanoseconds) {
  const std::uint32_t id = record->id;
  attached_.emplace(
      id, std::make_unique<AttachedLane>(env, std::move(record), memory, mode, spinNanoseconds));
}

Poller* Environment::poller(std::uint32_t id) const {
  const auto found = attached_.find(id);
  return found == attached_.end() ? nullptr : &found->second->poller();
}

OwnedLane* ownedLane(const Napi::CallbackInfo& info, ValueReader& reader) {
  const std::uint32_t id = reader.uint32(info[0], "lane");
  return reader.failed() ? nullptr : Environment::of(info.Env()).owned(id);
}

}  // namespace queuepair::binding
