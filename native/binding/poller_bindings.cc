#include "binding/bindings.h"
#include "binding/environment.h"
#include "binding/value_reader.h"

namespace queuepair::binding {

void attachPoller(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  ValueReader reader(env);
  const std::uint32_t id = reader.uint32(info[0], "lane");
  const SharedView memory = reader.sharedView(info[1], "memory");
  const auto lastMode = static_cast<std::uint64_t>(PollingMode::kEvent);
  const auto mode = static_cast<PollingMode>(reader.integerUpTo(lastMode, info[2], "mode"));
  const std::uint64_t spinNanoseconds = reader.safeInteger(info[3], "spinNanoseconds");
  if (reader.failed()) return;

  const LaneReference record = findLane(id);
  if (record == nullptr) return;
  if (memory.bytes.data() != record->memory.data()) {
    reader.throwTypeError("memory", "the memory that the lane was opened with");
    return;
  }
  if (record->pollerAttached.exchange(true)) {
    reader.throwTypeError("lane", "without a poller");
    return;
  }
  Environment::of(env).attach(env, record, memory.object, mode, spinNanoseconds);
}

Napi::Value turn(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  ValueReader reader(env);
  const std::uint32_t id = reader.uint32(info[0], "lane");
  Poller* const poller = reader.failed() ? nullptr : Environment::of(env).poller(id);
  const bool goesOn = poller != nullptr && poller->turn() == Poller::TurnResult::kContinue;
  return Napi::Boolean::New(env, goesOn);
}

}  // namespace queuepair::binding
