#include "core/providers/shm/provider.h"

#include <cerrno>
#include <cstring>
#include <string>

#include "core/os/sealed_memory.h"
#include "core/os/unix_socket.h"
#include "core/providers/shm/adapter.h"

namespace queuepair::shm {
namespace {

std::string withError(const char* what) {
  return std::string(what) + ": " + std::strerror(errno) + ".";
}

// Empty: it works.
std::string tryMemory() {
  const os::FileDescriptor memory = os::createMemory("queuepair-probe", 1);
  if (!memory.valid() || !os::sealMemory(memory.get(), false)) {
    return withError("The kernel refuses sealed memory files (memfd_create)");
  }
  if (!os::isMappable(memory.get(), 1)) return "Sealed memory files are not on tmpfs here.";
  std::byte* at = os::mapMemory(memory.get(), os::pageBytes(), true);
  if (at == nullptr) return withError("Sealed memory files cannot be mapped");
  os::unmapMemory(at, os::pageBytes());
  return {};
}

std::string trySockets() {
  const std::string name = "queuepair/probe/" + std::to_string(os::ownUserId());
  const os::FileDescriptor listener = os::listenOnSocket(name, 1);
  // Another process that probes just now has shown that it works.
  if (listener.valid() || errno == EADDRINUSE) return {};
  return withError("The kernel refuses unix sockets in the abstract namespace");
}

}  // namespace

ProviderReport SharedMemoryProvider::probe() {
  ProviderReport report;
  report.name = name();
  for (std::string reason : {tryMemory(), trySockets()}) {
    if (!reason.empty()) report.reasons.push_back(std::move(reason));
  }
  report.available = report.reasons.empty();
  if (!report.available) return report;
  report.reasons.emplace_back("Shared memory connects the processes of one user on this host.");
  report.adapters.push_back(
      {.name = "shm0", .capabilities = sharedMemoryCapabilities(), .limits = sharedMemoryLimits()});
  return report;
}

std::unique_ptr<Adapter> SharedMemoryProvider::openAdapter(os::WaitSet& waitSet,
                                                           AdapterEvents& events,
                                                           FaultInjector& faults, Failure&) {
  return std::make_unique<SharedMemoryAdapter>(waitSet, events, faults);
}

}  // namespace queuepair::shm
