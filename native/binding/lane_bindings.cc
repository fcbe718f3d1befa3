#include <cstring>
#include <string>
#include <utility>

#include "binding/bindings.h"
#include "binding/convert.h"
#include "binding/environment.h"
#include "binding/lane_table.h"
#include "binding/value_reader.h"
#include "core/provider.h"

namespace queuepair::binding {
namespace {

Provider* findProvider(const std::string& name) {
  for (Provider* provider : providers()) {
    if (name == provider->name()) return provider;
  }
  return nullptr;
}

Failure fail(Fault fault, std::string detail) {
  return {.fault = fault, .osError = 0, .status = Status::kSuccess, .detail = std::move(detail)};
}

// A record with an open lane, or null with `failure` set.
LaneReference makeLane(Napi::Env env, Provider& provider, const SharedView& memory,
                       const Napi::Function& onWake, Failure& failure) {
  auto record = std::make_shared<SharedLane>();
  record->memory = memory.bytes;
  if (!record->waker.open(env, onWake)) {
    failure = fail(Fault::kOutOfResources, "Node gives no thread-safe function");
    return nullptr;
  }
  record->lane = Lane::open(provider, memory.bytes, record->waker, failure);
  if (record->lane == nullptr) {
    record->waker.close();
    return nullptr;
  }
  return record;
}

Napi::Object describe(Napi::Env env, const SharedLane& record) {
  Napi::Object object = Napi::Object::New(env);
  object.Set("lane", Napi::Number::New(env, record.id));
  object.Set("capabilities", toObject(env, record.lane->capabilities()));
  object.Set("limits", toObject(env, record.lane->limits()));
  return object;
}

}  // namespace

Napi::Value openLane(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  ValueReader reader(env);
  const SharedView memory = reader.sharedView(info[0], "memory");
  const std::string name = reader.string(info[1], "provider");
  const Napi::Function onWake = reader.function(info[2], "onWake");
  if (reader.failed()) return {};

  Provider* const provider = findProvider(name);
  if (provider == nullptr) {
    return toObject(env, fail(Fault::kInvalidArgument, "no provider has the name " + name));
  }
  Failure failure;
  const LaneReference record = makeLane(env, *provider, memory, onWake, failure);
  if (record == nullptr) return toObject(env, failure);
  enterLane(record);
  Environment::of(env).own(env, record, memory.object);
  return describe(env, *record);
}

void closeLane(const Napi::CallbackInfo& info) {
  ValueReader reader(info.Env());
  const std::uint32_t id = reader.uint32(info[0], "lane");
  if (!reader.failed()) Environment::of(info.Env()).close(id);
}

void keepAlive(const Napi::CallbackInfo& info) {
  ValueReader reader(info.Env());
  OwnedLane* const owned = ownedLane(info, reader);
  const bool alive = reader.boolean(info[1], "alive");
  if (owned != nullptr && !reader.failed()) owned->waker().keepAlive(alive);
}

void ring(const Napi::CallbackInfo& info) {
  ValueReader reader(info.Env());
  const std::uint32_t id = reader.uint32(info[0], "lane");
  const LaneReference record = findLane(id);
  if (record != nullptr) record->lane->ring();
}

void requestStop(const Napi::CallbackInfo& info) {
  ValueReader reader(info.Env());
  OwnedLane* const owned = ownedLane(info, reader);
  if (owned != nullptr) owned->requestStop();
}

void injectFault(const Napi::CallbackInfo& info) {
  ValueReader reader(info.Env());
  const std::uint32_t id = reader.uint32(info[0], "lane");
  const std::uint64_t point = reader.integerUpTo(kFaultPointCount - 1, info[1], "point");
  const std::uint32_t skip = reader.uint32(info[2], "skip");
  const std::uint32_t count = reader.uint32(info[3], "count");
  const std::uint64_t value = reader.safeInteger(info[4], "value");
  const LaneReference record = reader.failed() ? nullptr : findLane(id);
  if (record != nullptr) {
    record->lane->faults().arm(static_cast<FaultPoint>(point), skip, count, value);
  }
}

}  // namespace queuepair::binding
