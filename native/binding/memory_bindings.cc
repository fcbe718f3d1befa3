#include <utility>

#include "binding/bindings.h"
#include "binding/convert.h"
#include "binding/environment.h"
#include "binding/value_reader.h"
#include "core/region_memory.h"

namespace queuepair::binding {
namespace {

constexpr std::uint64_t kAccessBits = kRemoteRead | kRemoteWrite | kRemoteAtomic;

// Enters the region and pins the buffer under it; answers with a NativeMemory or a NativeFailure.
Napi::Value enterRegion(Napi::Env env, OwnedLane& owned, const SharedView& view,
                        std::unique_ptr<Region> region, Failure failure) {
  if (region == nullptr) return toObject(env, failure);
  const auto byteOffset = region->data() - view.bytes.data();
  const Handle handle = owned.lane().addRegion(std::move(region));
  if (handle.generation == 0) {
    failure.fault = Fault::kOutOfResources;
    failure.detail = "the engine's table of regions is full";
    return toObject(env, failure);
  }
  owned.pin(handle, view.object);
  Napi::Object object = toObject(env, handle);
  object.Set("byteOffset", Napi::Number::New(env, static_cast<double>(byteOffset)));
  return object;
}

Napi::Value laneIsGone(Napi::Env env) {
  Failure failure;
  failure.fault = Fault::kClosedLocally;
  return toObject(env, failure);
}

}  // namespace

Napi::Value allocateMemory(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  ValueReader reader(env);
  OwnedLane* const owned = ownedLane(info, reader);
  const SharedView view = reader.sharedView(info[1], "view");
  const std::uint64_t byteLength = reader.safeInteger(info[2], "byteLength");
  const std::uint64_t access = reader.integerUpTo(kAccessBits, info[3], "access");
  if (reader.failed()) return {};
  if (byteLength == 0 || view.rest.size() < bytesToAllocate(byteLength)) {
    reader.throwRangeError("byteLength", "at least 1 and a page less than the buffer's");
    return {};
  }
  if (owned == nullptr) return laneIsGone(env);
  Failure failure;
  auto region = allocateRegion(view.rest, byteLength, static_cast<std::uint8_t>(access),
                               owned->lane().faults(), failure);
  return enterRegion(env, *owned, view, std::move(region), std::move(failure));
}

Napi::Value registerMemory(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  ValueReader reader(env);
  OwnedLane* const owned = ownedLane(info, reader);
  const SharedView view = reader.sharedView(info[1], "view");
  const std::uint64_t access = reader.integerUpTo(kAccessBits, info[2], "access");
  if (reader.failed()) return {};
  if (owned == nullptr) return laneIsGone(env);
  Failure failure;
  auto region = registerRegion(view.bytes, static_cast<std::uint8_t>(access),
                               owned->lane().faults(), failure);
  return enterRegion(env, *owned, view, std::move(region), std::move(failure));
}

Napi::Value populateMemory(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  ValueReader reader(env);
  const std::uint32_t id = reader.uint32(info[0], "lane");
  const Handle region{.slot = reader.uint32(info[1], "slot"),
                      .generation = reader.uint32(info[2], "generation")};
  if (reader.failed()) return {};
  const LaneReference record = findLane(id);
  if (record == nullptr) return laneIsGone(env);
  const Failure failure = populateRegion(*record->lane, region, record->stopping);
  return failure.failed() ? toObject(env, failure) : env.Undefined();
}

}  // namespace queuepair::binding
