#include "binding/convert.h"

#include <algorithm>
#include <cstring>

namespace queuepair::binding {
namespace {

// Exact: a limit beyond what a Number holds exactly is no limit that JavaScript could reach.
double toNumber(std::uint64_t value) {
  constexpr std::uint64_t kMaxSafeInteger = (std::uint64_t{1} << 53) - 1;
  return static_cast<double>(std::min(value, kMaxSafeInteger));
}

Napi::Object addressObject(Napi::Env env, const Address& address) {
  Napi::Object object = Napi::Object::New(env);
  object.Set("host", address.host);
  object.Set("port", Napi::Number::New(env, address.port));
  return object;
}

Napi::Object peerObject(Napi::Env env, const Peer& peer) {
  Napi::Object object = addressObject(env, peer.address);
  object.Set("processId", Napi::Number::New(env, static_cast<double>(peer.processId)));
  object.Set("userId", Napi::Number::New(env, static_cast<double>(peer.userId)));
  return object;
}

// A copy in memory of JavaScript's own: native memory never backs an ArrayBuffer.
Napi::Value toBytes(Napi::Env env, const std::vector<std::byte>& bytes) {
  Napi::Uint8Array array = Napi::Uint8Array::New(env, bytes.size());
  std::uint8_t* const data = array.Data();
  if (!bytes.empty() && data != nullptr) std::memcpy(data, bytes.data(), bytes.size());
  return array;
}

Napi::Object adapterObject(Napi::Env env, const AdapterReport& report) {
  Napi::Object object = Napi::Object::New(env);
  object.Set("name", report.name);
  object.Set("capabilities", toObject(env, report.capabilities));
  object.Set("limits", toObject(env, report.limits));
  return object;
}

}  // namespace

Napi::Object toObject(Napi::Env env, const Failure& failure) {
  Napi::Object object = Napi::Object::New(env);
  object.Set("fault", Napi::Number::New(env, static_cast<double>(failure.fault)));
  object.Set("osError", Napi::Number::New(env, failure.osError));
  object.Set("status", Napi::Number::New(env, static_cast<double>(failure.status)));
  object.Set("detail", failure.detail);
  return object;
}

Napi::Object toObject(Napi::Env env, Handle handle) {
  Napi::Object object = Napi::Object::New(env);
  object.Set("slot", Napi::Number::New(env, handle.slot));
  object.Set("generation", Napi::Number::New(env, handle.generation));
  return object;
}

Napi::Value toObjectOrUndefined(Napi::Env env, Handle handle) {
  if (handle.generation == 0) return env.Undefined();
  return toObject(env, handle);
}

Napi::Object toObject(Napi::Env env, const Capabilities& capabilities) {
  Napi::Object object = Napi::Object::New(env);
  object.Set("receiverNotReadyWaits", capabilities.receiverNotReadyWaits);
  object.Set("initiatorSpeaksFirst", capabilities.initiatorSpeaksFirst);
  object.Set("writeThenSendOrder", capabilities.writeThenSendOrder);
  object.Set("immediate", capabilities.immediate);
  object.Set("read", capabilities.read);
  object.Set("write", capabilities.write);
  object.Set("atomics", capabilities.atomics);
  object.Set("automaticProgress", capabilities.automaticProgress);
  object.Set("waitFd", capabilities.waitFd);
  return object;
}

Napi::Object toObject(Napi::Env env, const Limits& limits) {
  Napi::Object object = Napi::Object::New(env);
  object.Set("maxSegments", Napi::Number::New(env, limits.maxSegments));
  object.Set("maxDepth", Napi::Number::New(env, limits.maxDepth));
  object.Set("maxMessageBytes", Napi::Number::New(env, toNumber(limits.maxMessageBytes)));
  object.Set("connectPrivateBytes", Napi::Number::New(env, limits.connectPrivateBytes));
  object.Set("acceptPrivateBytes", Napi::Number::New(env, limits.acceptPrivateBytes));
  object.Set("rejectPrivateBytes", Napi::Number::New(env, limits.rejectPrivateBytes));
  return object;
}

Napi::Object toObject(Napi::Env env, const ProviderReport& report) {
  Napi::Object object = Napi::Object::New(env);
  object.Set("name", report.name);
  object.Set("available", report.available);
  object.Set("reasons", toArray(env, report.reasons, [env](const std::string& reason) {
               return Napi::String::New(env, reason);
             }));
  object.Set("adapters", toArray(env, report.adapters, [env](const AdapterReport& adapter) {
               return adapterObject(env, adapter);
             }));
  return object;
}

Napi::Object toObject(Napi::Env env, const Event& event) {
  Napi::Object object = toObject(env, event.object);
  object.Set("kind", Napi::Number::New(env, static_cast<double>(event.kind)));
  switch (event.kind) {
    case EventKind::kListening:
      object.Set("failure", toObject(env, event.failure));
      object.Set("localAddress", addressObject(env, event.localAddress));
      break;
    case EventKind::kConnectionRequest:
      object.Set("listenerSlot", Napi::Number::New(env, event.listener.slot));
      object.Set("listenerGeneration", Napi::Number::New(env, event.listener.generation));
      [[fallthrough]];
    case EventKind::kEstablished:
      object.Set("peer", peerObject(env, event.peer));
      object.Set("localAddress", addressObject(env, event.localAddress));
      object.Set("privateData", toBytes(env, event.privateData));
      break;
    case EventKind::kDisconnected:
      object.Set("failure", toObject(env, event.failure));
      object.Set("privateData", toBytes(env, event.privateData));
      break;
    case EventKind::kListenerClosed:
    case EventKind::kDestroyed:
    case EventKind::kRegionReleased:
      break;
  }
  return object;
}

}  // namespace queuepair::binding
