#include "core/providers/shm/adapter.h"

#include <algorithm>
#include <memory>

#include "core/os/local_address.h"
#include "core/providers/shm/completion_queue.h"
#include "core/providers/shm/connector.h"
#include "core/providers/shm/listener.h"
#include "core/providers/shm/queue_pair.h"

namespace queuepair::shm {
namespace {

// A queue longer than the record ring costs its owner 216 bytes an entry and the peer nothing.
constexpr std::uint32_t kMaxDepth = 16 * 1024;
// Polling so many quiet connections costs less than a microsecond; past that, quiet ones rest.
constexpr std::size_t kAlwaysPolled = 64;
constexpr std::uint32_t kPruneRounds = 256;

}  // namespace

Capabilities sharedMemoryCapabilities() { return {}; }

Limits sharedMemoryLimits() {
  return {.maxSegments = kMaxSegments,
          .maxDepth = kMaxDepth,
          .maxMessageBytes = kMaxSendBytes,
          .connectPrivateBytes = kMaxPrivateBytes,
          .acceptPrivateBytes = kMaxPrivateBytes,
          .rejectPrivateBytes = kMaxPrivateBytes};
}

SharedMemoryAdapter::SharedMemoryAdapter(os::WaitSet& waitSet, AdapterEvents& events,
                                         FaultInjector& faults)
    : waitSet_(waitSet),
      events_(events),
      faults_(faults),
      capabilities_(sharedMemoryCapabilities()),
      limits_(sharedMemoryLimits()) {}

std::unique_ptr<CompletionQueue> SharedMemoryAdapter::createCompletionQueue(std::uint32_t slots,
                                                                            Failure&) {
  return std::make_unique<SharedMemoryCompletionQueue>(slots);
}

std::unique_ptr<QueuePair> SharedMemoryAdapter::createQueuePair(CompletionQueue& completions,
                                                                const QueuePairOptions& options,
                                                                Failure& failure) {
  const auto [least, most] = std::minmax(options.sendDepth, options.receiveDepth);
  if (least == 0 || most > kMaxDepth) {
    failure.fault = Fault::kInvalidArgument;
    failure.detail = "a queue holds 1 to " + std::to_string(kMaxDepth) + " requests";
    return nullptr;
  }
  auto& ours = static_cast<SharedMemoryCompletionQueue&>(completions);
  return std::make_unique<SharedMemoryQueuePair>(ours, options);
}

std::unique_ptr<Connector> SharedMemoryAdapter::createConnector(Failure&) {
  return std::make_unique<SharedMemoryConnector>(*this);
}

std::unique_ptr<Listener> SharedMemoryAdapter::listen(const Address& at, std::uint32_t,
                                                      Failure& failure) {
  const os::AddressKind kind = os::classifyAddress(at.host);
  if (kind == os::AddressKind::kInvalid || kind == os::AddressKind::kForeign) {
    const bool invalid = kind == os::AddressKind::kInvalid;
    failure.fault = invalid ? Fault::kInvalidArgument : Fault::kAddressNotLocal;
    failure.detail = at.host + (invalid ? " is no numeric address" : " is no address of this host");
    return nullptr;
  }
  auto listener = std::make_unique<SharedMemoryListener>(*this, at);
  failure = listener->open();
  if (failure.failed()) return nullptr;
  return listener;
}

// Done at once: peers only read, and every read of a completed send is over. What a peer reads
// although the send was flushed, it does not deliver.
ControlResult SharedMemoryAdapter::deregister(Region& region) {
  if (region.memoryFd() >= 0) {
    connectors_.visit([&](SharedMemoryConnector& connector) { connector.withdraw(region); });
  }
  return ControlResult::done();
}

bool SharedMemoryAdapter::progress(std::uint64_t nowNanoseconds) {
  bool moved = false;
  listeners_.visit(
      [&](SharedMemoryListener& listener) { moved = listener.progress(nowNanoseconds) || moved; });
  active_.visit([&](SharedMemoryConnector& connector) {
    moved = connector.progress(nowNanoseconds) || moved;
  });
  if (++rounds_ % kPruneRounds == 0) prune();
  return moved;
}

void SharedMemoryAdapter::prune() {
  active_.visit([&](SharedMemoryConnector& connector) {
    const bool rests = active_.size() > kAlwaysPolled && connector.isQuiet() &&
                       connector.mayRest() && connector.arm();
    if (rests || !connector.needsPolling()) deactivate(connector);
  });
}

void SharedMemoryAdapter::deactivate(SharedMemoryConnector& connector) {
  connector.active = false;
  active_.remove(&connector);
}

bool SharedMemoryAdapter::arm() {
  bool quiet = true;
  listeners_.visit([&](SharedMemoryListener& listener) { quiet = quiet && !listener.hasNews(); });
  active_.visit([&](SharedMemoryConnector& connector) { quiet = quiet && connector.arm(); });
  if (quiet) {
    restArmed();
  } else {
    disarm();
  }
  return quiet;
}

// They sleep from here on, whatever wakes the rest, so that neither the next wake nor the next park
// costs anything per quiet connection. Those active longest go first.
void SharedMemoryAdapter::restArmed() {
  std::size_t left = active_.size();
  active_.visit([&](SharedMemoryConnector& connector) {
    if (left <= kAlwaysPolled || !connector.mayRest()) return;
    deactivate(connector);
    --left;
  });
}

void SharedMemoryAdapter::disarm() {
  active_.visit([](SharedMemoryConnector& connector) { connector.disarm(); });
}

std::uint64_t SharedMemoryAdapter::deadlineNanoseconds() const {
  std::uint64_t earliest = 0;
  const auto consider = [&](std::uint64_t deadline) {
    if (deadline != 0 && (earliest == 0 || deadline < earliest)) earliest = deadline;
  };
  listeners_.forEach([&](const auto& listener) { consider(listener.deadlineNanoseconds()); });
  active_.forEach([&](const auto& connector) { consider(connector.deadlineNanoseconds()); });
  return earliest;
}

void SharedMemoryAdapter::add(SharedMemoryConnector& connector) { connectors_.add(&connector); }

void SharedMemoryAdapter::remove(SharedMemoryConnector& connector) {
  connectors_.remove(&connector);
  if (connector.active) active_.remove(&connector);
}

void SharedMemoryAdapter::activate(SharedMemoryConnector& connector) {
  if (connector.active) return;
  connector.active = true;
  connector.disarm();
  active_.add(&connector);
}

}  // namespace queuepair::shm
