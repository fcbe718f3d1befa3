// What Node has to keep for the engine to stand: addresses of shared memory, atomics across the
// boundary, references held at teardown, and pages mapped into a SharedArrayBuffer.
#include <fcntl.h>
#include <napi.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstring>

namespace {

constexpr int kMappingFlags = MAP_SHARED | MAP_FIXED;

std::byte* addressOf(const Napi::Value& view) {
  return reinterpret_cast<std::byte*>(view.As<Napi::Uint8Array>().Data());
}

Napi::Value address(const Napi::CallbackInfo& info) {
  const auto value = reinterpret_cast<uintptr_t>(addressOf(info[0]));
  return Napi::BigInt::New(info.Env(), static_cast<uint64_t>(value));
}

Napi::Value load(const Napi::CallbackInfo& info) {
  std::atomic_ref<int32_t> word(*reinterpret_cast<int32_t*>(addressOf(info[0])));
  return Napi::Number::New(info.Env(), word.load());
}

void store(const Napi::CallbackInfo& info) {
  std::atomic_ref<int32_t> word(*reinterpret_cast<int32_t*>(addressOf(info[0])));
  word.store(info[1].As<Napi::Number>().Int32Value());
}

/// Whether the plain Node-API call takes a bare SharedArrayBuffer; Node 20 doesn't.
Napi::Value acceptsBareBuffer(const Napi::CallbackInfo& info) {
  void* data = nullptr;
  size_t byteLength = 0;
  const napi_status status = napi_get_arraybuffer_info(info.Env(), info[0], &data, &byteLength);
  return Napi::Boolean::New(info.Env(), status == napi_ok);
}

/// Holds the view until the environment's cleanup hook, which still stores through it.
void hold(const Napi::CallbackInfo& info) {
  auto* reference = new Napi::Reference<Napi::Value>(Napi::Persistent(info[0]));
  auto* word = reinterpret_cast<int32_t*>(addressOf(info[0]));
  info.Env().AddCleanupHook([reference, word] {
    std::atomic_ref<int32_t>(*word).store(1);
    reference->SuppressDestruct();
    delete reference;
  });
}

size_t pageBytes() { return static_cast<size_t>(sysconf(_SC_PAGESIZE)); }

std::byte* firstWholePage(std::byte* start) {
  const uintptr_t mask = pageBytes() - 1;
  return start + ((pageBytes() - (reinterpret_cast<uintptr_t>(start) & mask)) & mask);
}

/// Maps a new memfd over the whole pages of the view; returns their offset, and the memfd to map
/// again.
Napi::Value mapPages(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  std::byte* start = addressOf(info[0]);
  std::byte* pages = firstWholePage(start);
  const size_t byteLength = info[1].As<Napi::Number>().Uint32Value();
  const int fd = memfd_create("probe", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  const bool mapped =
      fd >= 0 && ftruncate(fd, static_cast<off_t>(byteLength)) == 0 &&
      mmap(pages, byteLength, PROT_READ | PROT_WRITE, kMappingFlags, fd, 0) == pages;
  if (!mapped) {
    Napi::Error::New(env, std::strerror(errno)).ThrowAsJavaScriptException();
    return env.Undefined();
  }
  Napi::Object result = Napi::Object::New(env);
  result.Set("offset", static_cast<double>(pages - start));
  result.Set("fd", fd);
  return result;
}

/// Reads one byte through a mapping of its own.
Napi::Value readThrough(const Napi::CallbackInfo& info) {
  const int fd = info[0].As<Napi::Number>().Int32Value();
  const size_t offset = info[1].As<Napi::Number>().Uint32Value();
  const size_t byteLength = offset + 1;
  void* second = mmap(nullptr, byteLength, PROT_READ, MAP_SHARED, fd, 0);
  if (second == MAP_FAILED) return info.Env().Undefined();
  const auto value = static_cast<uint8_t>(static_cast<std::byte*>(second)[offset]);
  munmap(second, byteLength);
  return Napi::Number::New(info.Env(), value);
}

/// Puts anonymous memory back where mapPages() put the memfd.
Napi::Value unmapPages(const Napi::CallbackInfo& info) {
  std::byte* pages = firstWholePage(addressOf(info[0]));
  const size_t byteLength = info[1].As<Napi::Number>().Uint32Value();
  const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED;
  void* back = mmap(pages, byteLength, PROT_READ | PROT_WRITE, flags, -1, 0);
  close(info[2].As<Napi::Number>().Int32Value());
  return Napi::Boolean::New(info.Env(), back == pages);
}

template <auto Function>
void add(Napi::Object exports, const char* name) {
  exports.Set(name, Napi::Function::New<Function>(exports.Env(), name));
}

Napi::Object start(Napi::Env /*env*/, Napi::Object exports) {
  add<address>(exports, "address");
  add<load>(exports, "load");
  add<store>(exports, "store");
  add<acceptsBareBuffer>(exports, "acceptsBareBuffer");
  add<hold>(exports, "hold");
  add<mapPages>(exports, "mapPages");
  add<readThrough>(exports, "readThrough");
  add<unmapPages>(exports, "unmapPages");
  return exports;
}

}  // namespace

NODE_API_MODULE(probe, start)
