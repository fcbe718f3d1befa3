// A test harness small enough to need no package. A file `name_test.cc` holds TESTs and includes
// this; check.cc has main().
#pragma once

#include <sstream>
#include <string>
#include <type_traits>
#include <utility>

namespace check {

/// Enters a test in the list that main() runs; made by TEST.
struct Registration {
  Registration(const char* name, void (*body)());
};

/// Counts a failure of the running test. May be called on any thread.
void fail(const char* file, int line, const std::string& message);

template <typename T>
std::string show(const T& value) {
  std::ostringstream out;
  out << std::boolalpha;
  if constexpr (std::is_enum_v<T>) {
    out << static_cast<long long>(value);
  } else if constexpr (std::is_same_v<T, unsigned char> || std::is_same_v<T, signed char>) {
    out << static_cast<int>(value);  // a byte is a number here, not a character
  } else if constexpr (requires { out << value; }) {
    out << value;
  } else {
    out << "a value of " << sizeof(T) << " bytes";
  }
  return out.str();
}

template <typename A, typename B>
bool same(const A& a, const B& b) {
  // Wide integers by value, so that CHECK_EQ(size, 8) needs no cast; narrow ones promote on their
  // own.
  if constexpr (std::is_integral_v<A> && std::is_integral_v<B> && sizeof(A) > 1 && sizeof(B) > 1) {
    return std::cmp_equal(a, b);
  } else {
    return a == b;
  }
}

template <typename A, typename B>
bool equal(const char* file, int line, const char* text, const A& actual, const B& expected) {
  if (same(actual, expected)) return true;
  fail(file, line, std::string(text) + ": " + show(actual) + " != " + show(expected));
  return false;
}

}  // namespace check

#define TEST(name)                                                \
  static void name();                                             \
  static const check::Registration kRegister_##name(#name, name); \
  static void name()

/// Counts a failure and goes on.
#define CHECK(condition) ((condition) ? void() : check::fail(__FILE__, __LINE__, #condition))

/// Like CHECK, and prints both values.
#define CHECK_EQ(actual, expected) \
  check::equal(__FILE__, __LINE__, #actual " == " #expected, actual, expected)

/// Like CHECK, and leaves the function, which returns nothing.
#define REQUIRE(condition)                         \
  do {                                             \
    if (!(condition)) {                            \
      check::fail(__FILE__, __LINE__, #condition); \
      return;                                      \
    }                                              \
  } while (false)
