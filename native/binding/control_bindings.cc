#include <utility>

#include "binding/bindings.h"
#include "binding/convert.h"
#include "binding/environment.h"
#include "binding/value_reader.h"
#include "core/control.h"

namespace queuepair::binding {
namespace {

// A member that may be absent.
std::uint32_t optionalUint32(ValueReader& reader, const Napi::Value& value, const char* name) {
  return value.IsUndefined() ? 0 : reader.uint32(value, name);
}

ControlKind readKind(ValueReader& reader, const Napi::Value& value) {
  const std::uint32_t kind = reader.uint32(value, "request.kind");
  if (!reader.failed() && (kind < static_cast<std::uint32_t>(ControlKind::kListen) ||
                           kind > static_cast<std::uint32_t>(ControlKind::kReleaseRegion))) {
    reader.throwRangeError("request.kind", "a kind of control request");
  }
  return static_cast<ControlKind>(kind);
}

ControlRequest readRequest(ValueReader& reader, const Napi::Object& object) {
  ControlRequest request;
  request.kind = readKind(reader, object.Get("kind"));
  request.object.slot = reader.uint32(object.Get("slot"), "request.slot");
  request.object.generation = reader.uint32(object.Get("generation"), "request.generation");
  const Napi::Value host = object.Get("host");
  if (!host.IsUndefined()) request.address.host = reader.string(host, "request.host");
  const Napi::Value port = object.Get("port");
  if (!port.IsUndefined()) {
    request.address.port =
        static_cast<std::uint16_t>(reader.integerUpTo(0xffff, port, "request.port"));
  }
  request.backlog = optionalUint32(reader, object.Get("backlog"), "request.backlog");
  request.sendDepth = optionalUint32(reader, object.Get("sendDepth"), "request.sendDepth");
  request.receiveDepth = optionalUint32(reader, object.Get("receiveDepth"), "request.receiveDepth");
  const Napi::Value bytes = object.Get("privateData");
  if (!bytes.IsUndefined()) {
    request.privateData = reader.copyOfBytes(bytes, "request.privateData");
  }
  return request;
}

}  // namespace

Napi::Value createConnection(const Napi::CallbackInfo& info) {
  ValueReader reader(info.Env());
  OwnedLane* const owned = ownedLane(info, reader);
  if (owned == nullptr) return info.Env().Undefined();
  return toObjectOrUndefined(info.Env(), owned->lane().createConnection());
}

Napi::Value createListener(const Napi::CallbackInfo& info) {
  ValueReader reader(info.Env());
  OwnedLane* const owned = ownedLane(info, reader);
  if (owned == nullptr) return info.Env().Undefined();
  return toObjectOrUndefined(info.Env(), owned->lane().createListener());
}

void control(const Napi::CallbackInfo& info) {
  ValueReader reader(info.Env());
  const std::uint32_t id = reader.uint32(info[0], "lane");
  const Napi::Object object = reader.object(info[1], "request");
  if (reader.failed()) return;
  ControlRequest request = readRequest(reader, object);
  // Looked up last: a getter of the request may have closed the lane.
  OwnedLane* const owned = reader.failed() ? nullptr : Environment::of(info.Env()).owned(id);
  if (owned != nullptr) owned->lane().control(std::move(request));
}

Napi::Value takeEvents(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  ValueReader reader(env);
  OwnedLane* const owned = ownedLane(info, reader);
  if (owned == nullptr) return Napi::Array::New(env);
  const std::vector<Event> events = owned->lane().takeEvents();
  for (const Event& event : events) {
    if (event.kind == EventKind::kRegionReleased) owned->unpin(event.object);
  }
  return toArray(env, events, [env](const Event& event) { return toObject(env, event); });
}

}  // namespace queuepair::binding
