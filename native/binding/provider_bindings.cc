#include "binding/bindings.h"
#include "binding/convert.h"
#include "core/provider.h"

namespace queuepair::binding {

Napi::Value listProviders(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  return toArray(env, providers(),
                 [env](Provider* provider) { return toObject(env, provider->probe()); });
}

}  // namespace queuepair::binding
