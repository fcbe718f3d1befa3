#include "core/status.h"

#include <array>

namespace queuepair {
namespace {

constexpr std::array<const char*, kStatusCount> kStatusNames = {
    "success",
    "local-length",
    "local-queue-pair-operation",
    "local-end-to-end-context",
    "local-protection",
    "flushed",
    "memory-window-bind",
    "bad-response",
    "local-access",
    "remote-invalid-request",
    "remote-access",
    "remote-operation",
    "retry-exceeded",
    "receiver-not-ready-retry-exceeded",
    "local-reliable-datagram-domain",
    "remote-invalid-reliable-datagram",
    "remote-abort",
    "invalid-end-to-end-context",
    "invalid-end-to-end-context-state",
    "fatal",
    "response-timeout",
    "general",
};

constexpr std::array<const char*, kFaultCount> kFaultNames = {
    "none",        "invalid-argument", "invalid-state", "address-in-use",   "address-not-local",
    "unreachable", "rejected",         "peer-closed",   "peer-lost",        "protocol",
    "permission",  "out-of-resources", "unsupported",   "operation-failed", "closed-locally",
    "internal",    "backlog-full",
};

}  // namespace

const char* statusName(Status status) noexcept {
  const auto index = static_cast<std::size_t>(status);
  return index < kStatusNames.size() ? kStatusNames[index] : "unknown";
}

const char* faultName(Fault fault) noexcept {
  const auto index = static_cast<std::size_t>(fault);
  return index < kFaultNames.size() ? kFaultNames[index] : "unknown";
}

}  // namespace queuepair
