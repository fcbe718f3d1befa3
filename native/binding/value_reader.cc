#include "binding/value_reader.h"

#include <cmath>

namespace queuepair::binding {
namespace {

constexpr std::uint64_t kMaxUint32 = 0xffffffff;
constexpr std::uint64_t kMaxSafeInteger = (std::uint64_t{1} << 53) - 1;

bool isUint8Array(const Napi::Value& value) {
  return value.IsTypedArray() && value.As<Napi::TypedArray>().TypedArrayType() == napi_uint8_array;
}

// The raw call: node-addon-api would hand the buffer out as an ArrayBuffer, which it is not.
Napi::Object bufferOf(Napi::Env env, const Napi::Value& view, std::size_t& byteOffset) {
  napi_value buffer = nullptr;
  napi_get_typedarray_info(env, view, nullptr, nullptr, nullptr, &buffer, &byteOffset);
  return {env, buffer};
}

std::span<std::byte> bytesOf(const Napi::Value& view) {
  auto array = view.As<Napi::Uint8Array>();
  return std::as_writable_bytes(std::span(array.Data(), array.ByteLength()));
}

std::string describe(const char* name, const char* wanted) {
  return std::string(name) + " must be " + wanted;
}

}  // namespace

void ValueReader::throwTypeError(const char* name, const char* wanted) {
  failed_ = true;
  Napi::TypeError::New(env_, describe(name, wanted)).ThrowAsJavaScriptException();
}

void ValueReader::throwRangeError(const char* name, const char* wanted) {
  failed_ = true;
  Napi::RangeError::New(env_, describe(name, wanted)).ThrowAsJavaScriptException();
}

bool ValueReader::expect(bool fits, const char* name, const char* wanted) {
  if (failed()) return false;
  if (!fits) throwTypeError(name, wanted);
  return fits;
}

std::uint64_t ValueReader::integerUpTo(std::uint64_t maximum, const Napi::Value& value,
                                       const char* name) {
  if (!expect(value.IsNumber(), name, "a number")) return 0;
  const double number = value.As<Napi::Number>().DoubleValue();
  if (number >= 0 && number <= static_cast<double>(maximum) && std::trunc(number) == number) {
    return static_cast<std::uint64_t>(number);
  }
  throwRangeError(name, ("an integer from 0 to " + std::to_string(maximum)).c_str());
  return 0;
}

std::uint32_t ValueReader::uint32(const Napi::Value& value, const char* name) {
  return static_cast<std::uint32_t>(integerUpTo(kMaxUint32, value, name));
}

std::uint64_t ValueReader::safeInteger(const Napi::Value& value, const char* name) {
  return integerUpTo(kMaxSafeInteger, value, name);
}

bool ValueReader::boolean(const Napi::Value& value, const char* name) {
  return expect(value.IsBoolean(), name, "a boolean") && value.As<Napi::Boolean>().Value();
}

std::string ValueReader::string(const Napi::Value& value, const char* name) {
  if (!expect(value.IsString(), name, "a string")) return {};
  return value.As<Napi::String>().Utf8Value();
}

Napi::Function ValueReader::function(const Napi::Value& value, const char* name) {
  if (!expect(value.IsFunction(), name, "a function")) return {};
  return value.As<Napi::Function>();
}

Napi::Object ValueReader::object(const Napi::Value& value, const char* name) {
  if (!expect(value.IsObject(), name, "an object")) return {};
  return value.As<Napi::Object>();
}

SharedView ValueReader::sharedView(const Napi::Value& value, const char* name) {
  constexpr const char* kWanted = "a Uint8Array over a SharedArrayBuffer";
  if (!expect(isUint8Array(value), name, kWanted)) return {};
  std::size_t byteOffset = 0;
  const Napi::Object buffer = bufferOf(env_, value, byteOffset);
  if (!expect(!buffer.IsArrayBuffer(), name, kWanted)) return {};
  const std::uint64_t bufferBytes = safeInteger(buffer.Get("byteLength"), name);
  if (failed()) return {};
  const std::span<std::byte> bytes = bytesOf(value);
  return {.object = value.As<Napi::Object>(),
          .bytes = bytes,
          .rest = std::span(bytes.data(), bufferBytes - byteOffset)};
}

std::vector<std::byte> ValueReader::copyOfBytes(const Napi::Value& value, const char* name) {
  if (!expect(isUint8Array(value), name, "a Uint8Array")) return {};
  const std::span<std::byte> bytes = bytesOf(value);
  return {bytes.begin(), bytes.end()};
}

}  // namespace queuepair::binding
