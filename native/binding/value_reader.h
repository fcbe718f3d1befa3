// Checked readers of what JavaScript passed in. The first value that does not fit throws and makes
// failed() true; what is read afterwards is empty. Nothing is narrowed silently.
#pragma once

#include <napi.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace queuepair::binding {

// A Uint8Array over a SharedArrayBuffer, whose bytes stay put as long as `object` is referenced.
struct SharedView {
  Napi::Object object{};
  std::span<std::byte> bytes{};
  // From the view's first byte to the end of its buffer, which may be longer than any view can be.
  std::span<std::byte> rest{};
};

class ValueReader {
 public:
  explicit ValueReader(Napi::Env env) : env_(env) {}

  // The names are those of the messages: "lane", "request.port".
  std::uint32_t uint32(const Napi::Value& value, const char* name);
  std::uint64_t safeInteger(const Napi::Value& value, const char* name);  // 0 to 2^53 - 1
  std::uint64_t integerUpTo(std::uint64_t maximum, const Napi::Value& value, const char* name);
  bool boolean(const Napi::Value& value, const char* name);
  std::string string(const Napi::Value& value, const char* name);
  Napi::Function function(const Napi::Value& value, const char* name);
  Napi::Object object(const Napi::Value& value, const char* name);
  SharedView sharedView(const Napi::Value& value, const char* name);
  std::vector<std::byte> copyOfBytes(const Napi::Value& value, const char* name);

  void throwTypeError(const char* name, const char* wanted);
  void throwRangeError(const char* name, const char* wanted);
  // Also when something else threw meanwhile, as a getter may.
  [[nodiscard]] bool failed() const { return failed_ || env_.IsExceptionPending(); }

 private:
  // False also when an earlier value failed, or reading this one threw.
  bool expect(bool fits, const char* name, const char* wanted);

  Napi::Env env_;
  bool failed_ = false;
};

}  // namespace queuepair::binding
