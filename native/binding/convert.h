// What the core says, as JavaScript objects. The shapes are those of src/engine/native.ts.
#pragma once

#include <napi.h>

#include "core/control.h"
#include "core/object_table.h"
#include "core/provider.h"
#include "core/status.h"

namespace queuepair::binding {

Napi::Object toObject(Napi::Env env, const Failure& failure);
Napi::Object toObject(Napi::Env env, Handle handle);
Napi::Object toObject(Napi::Env env, const Capabilities& capabilities);
Napi::Object toObject(Napi::Env env, const Limits& limits);
Napi::Object toObject(Napi::Env env, const ProviderReport& report);
Napi::Object toObject(Napi::Env env, const Event& event);

// Undefined for a handle that names nothing.
Napi::Value toObjectOrUndefined(Napi::Env env, Handle handle);

template <typename List, typename Convert>
Napi::Array toArray(Napi::Env env, const List& list, Convert convert) {
  Napi::Array array = Napi::Array::New(env, list.size());
  std::uint32_t index = 0;
  for (const auto& item : list) array.Set(index++, convert(item));
  return array;
}

}  // namespace queuepair::binding
