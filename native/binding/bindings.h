// The functions that addon.cc exports; src/engine/native.ts says what each does. They read their
// arguments, call the core and convert what it answers.
#pragma once

#include <napi.h>

namespace queuepair::binding {

// layout_bindings.cc
Napi::Value layout(const Napi::CallbackInfo& info);
Napi::Value statusNames(const Napi::CallbackInfo& info);
Napi::Value faultNames(const Napi::CallbackInfo& info);

// provider_bindings.cc
Napi::Value listProviders(const Napi::CallbackInfo& info);

// lane_bindings.cc
Napi::Value openLane(const Napi::CallbackInfo& info);
void closeLane(const Napi::CallbackInfo& info);
void keepAlive(const Napi::CallbackInfo& info);
void ring(const Napi::CallbackInfo& info);
void requestStop(const Napi::CallbackInfo& info);
void injectFault(const Napi::CallbackInfo& info);

// control_bindings.cc
Napi::Value createConnection(const Napi::CallbackInfo& info);
Napi::Value createListener(const Napi::CallbackInfo& info);
void control(const Napi::CallbackInfo& info);
Napi::Value takeEvents(const Napi::CallbackInfo& info);

// memory_bindings.cc
Napi::Value allocateMemory(const Napi::CallbackInfo& info);
Napi::Value registerMemory(const Napi::CallbackInfo& info);
Napi::Value populateMemory(const Napi::CallbackInfo& info);

// poller_bindings.cc
void attachPoller(const Napi::CallbackInfo& info);
Napi::Value turn(const Napi::CallbackInfo& info);

}  // namespace queuepair::binding
