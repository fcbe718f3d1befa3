#include "test/check.h"

#include <atomic>
#include <cstdio>
#include <cstring>
#include <vector>

namespace check {
namespace {

struct Test {
  const char* name;
  void (*body)();
};

// A function's static: registrations of other files run before this file's globals exist.
std::vector<Test>& tests() {
  static std::vector<Test> list;
  return list;
}

std::atomic<int> failures{0};

}  // namespace

Registration::Registration(const char* name, void (*body)()) { tests().push_back({name, body}); }

void fail(const char* file, int line, const std::string& message) {
  failures.fetch_add(1);
  std::fprintf(stderr, "%s:%d: %s\n", file, line, message.c_str());
}

}  // namespace check

/// Runs the tests whose names contain the first argument, or all.
int main(int argc, char** argv) {
  const char* filter = argc > 1 ? argv[1] : "";
  int passed = 0;
  int failed = 0;
  for (const check::Test& test : check::tests()) {
    if (std::strstr(test.name, filter) == nullptr) continue;
    const int before = check::failures.load();
    test.body();
    const bool ok = check::failures.load() == before;
    (ok ? passed : failed) += 1;
    if (!ok) std::fprintf(stderr, "FAIL %s\n", test.name);
  }
  std::printf("%d passed, %d failed\n", passed, failed);
  return failed == 0 ? 0 : 1;
}
