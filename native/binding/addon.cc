// The table of exports. The addon is loaded by many threads of one process at the same time: what
// belongs to a thread is in environment.h, what they share in lane_table.h.
#include <napi.h>

#include "binding/bindings.h"
#include "binding/environment.h"

namespace queuepair::binding {
namespace {

template <auto Function>
void add(Napi::Object& exports, const char* name) {
  exports.Set(name, Napi::Function::New<Function>(exports.Env(), name));
}

Napi::Object init(Napi::Env env, Napi::Object exports) {
  env.SetInstanceData(new Environment());
  add<layout>(exports, "layout");
  add<statusNames>(exports, "statusNames");
  add<faultNames>(exports, "faultNames");
  add<listProviders>(exports, "listProviders");
  add<openLane>(exports, "openLane");
  add<closeLane>(exports, "closeLane");
  add<keepAlive>(exports, "keepAlive");
  add<ring>(exports, "ring");
  add<requestStop>(exports, "requestStop");
  add<injectFault>(exports, "injectFault");
  add<createConnection>(exports, "createConnection");
  add<createListener>(exports, "createListener");
  add<control>(exports, "control");
  add<takeEvents>(exports, "takeEvents");
  add<allocateMemory>(exports, "allocateMemory");
  add<registerMemory>(exports, "registerMemory");
  add<populateMemory>(exports, "populateMemory");
  add<attachPoller>(exports, "attachPoller");
  add<turn>(exports, "turn");
  return exports;
}

NODE_API_MODULE(queuepair, init)

}  // namespace
}  // namespace queuepair::binding
