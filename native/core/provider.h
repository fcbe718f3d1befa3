// What a provider is to the engine. The engine knows no provider's name; a provider's library is
// known only to its own folder.
//
// Every call below is made under the progress token unless it is marked "any thread" or "blocking".
// A control call ends in one of three ways: done (no second notice follows), pending (one notice
// follows through AdapterEvents, from within progress() or a wait-set handler), or failed.
//
// Semantics are those of a reliable connected queue pair: work completes in the order it was
// posted, per direction; a send completes when the peer matched and placed it; one receive takes
// one message; a message longer than its receive fails the receive with kLocalLength and the send
// with kRemoteInvalidRequest, and then the connection. After fail(), everything posted completes
// with kFlushed unless it already succeeded, in order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/os/wait_set.h"
#include "core/region.h"
#include "core/status.h"
#include "core/work.h"

namespace queuepair {

class FaultInjector;

struct Address {
  std::string host{};  // a numeric IPv4 or IPv6 address
  std::uint16_t port = 0;
};

struct Peer {
  Address address{};
  std::int64_t processId = -1;  // -1: the provider cannot know
  std::int64_t userId = -1;
};

struct ControlResult {
  enum class Kind : std::uint8_t { kDone, kPending, kFailed };
  Kind kind = Kind::kDone;
  Failure failure{};

  static ControlResult done() { return {}; }
  static ControlResult pending() { return {.kind = Kind::kPending, .failure = {}}; }
  static ControlResult failed(Failure why) {
    return {.kind = Kind::kFailed, .failure = std::move(why)};
  }
};

enum class PostResult : std::uint8_t {
  kPosted,
  kAgain,    // not now: post the same request again later, nothing was taken
  kRefused,  // the queue pair is in error: the caller completes the request as flushed
};

struct Capabilities {
  bool receiverNotReadyWaits = true;  // a send without a receive waits, in order
  bool initiatorSpeaksFirst = false;
  bool writeThenSendOrder = true;
  bool immediate = true;
  bool read = false;
  bool write = false;
  bool atomics = false;
  bool automaticProgress = false;  // needs no step() to serve the peer
  bool waitFd = true;
};

struct Limits {
  std::uint32_t maxSegments = kMaxSegments;
  std::uint32_t maxDepth = 0;             // work requests per queue
  std::uint64_t maxMessageBytes = 0;      // two-sided
  std::uint32_t connectPrivateBytes = 0;  // raw, our own four bytes included
  std::uint32_t acceptPrivateBytes = 0;
  std::uint32_t rejectPrivateBytes = 0;
};

struct QueuePairOptions {
  std::uint32_t sendDepth = 64;
  std::uint32_t receiveDepth = 64;
  void* context = nullptr;  // handed back in every WorkCompletion
};

class QueuePair {
 public:
  virtual ~QueuePair() = default;
  // The caller never has more than the depths asked for outstanding. Requests are copied.
  virtual PostResult postSend(const WorkRequest& request) = 0;
  virtual PostResult postReceive(const WorkRequest& request) = 0;
  virtual void ringDoorbell() = 0;  // after a batch of posts
  virtual void fail() = 0;          // to the error state: what is posted is flushed
  // Posted receives complete with kFlushed; later receives too; the send side goes on.
  virtual void flushReceives() = 0;
};

class CompletionQueue {
 public:
  virtual ~CompletionQueue() = default;
  // Slots are reserved before a queue pair that needs them exists; false: the queue cannot grow.
  virtual bool reserve(std::uint32_t slots) = 0;
  virtual void release(std::uint32_t slots) = 0;
  virtual std::size_t poll(std::span<WorkCompletion> into) = 0;
};

class Connector {
 public:
  virtual ~Connector() = default;  // whatever its state: closes without further notice
  // Active side. Pending, then onEstablished or onDisconnected.
  virtual ControlResult connect(QueuePair& pair, const Address& to,
                                std::span<const std::byte> privateData) = 0;
  // Passive side, after onConnectionRequest. accept: pending, then onEstablished or onDisconnected.
  virtual ControlResult accept(QueuePair& pair, std::span<const std::byte> privateData) = 0;
  virtual ControlResult reject(std::span<const std::byte> privateData) = 0;
  // In order: the peer sees kPeerClosed after it got all that was sent. Pending, then
  // onDisconnected.
  virtual ControlResult disconnect() = 0;

  [[nodiscard]] virtual Peer peer() const = 0;
  [[nodiscard]] virtual Address localAddress() const = 0;
  // What came with the request (passive), or with the accept or the reject (active).
  [[nodiscard]] virtual std::span<const std::byte> privateData() const = 0;

  void* context = nullptr;  // the engine's
};

class Listener {
 public:
  virtual ~Listener() = default;  // stops listening; unanswered requests stay answerable
  [[nodiscard]] virtual Address localAddress() const = 0;
  void* context = nullptr;  // the engine's
};

// The engine's side. Called under the token only.
class AdapterEvents {
 public:
  virtual ~AdapterEvents() = default;
  // Before this, onConnectionRequest's caller asks whether there is room for one more request.
  virtual bool admitsRequest(Listener& listener) = 0;
  virtual void onConnectionRequest(Listener& listener, std::unique_ptr<Connector> connector) = 0;
  virtual void onEstablished(Connector& connector) = 0;
  // At most once per connector, also for a request that the peer withdrew. The queue pair's
  // successes are in the completion queue by then; the engine then calls fail() and polls to the
  // last flush.
  virtual void onDisconnected(Connector& connector, const Failure& why) = 0;
  // A deregister() that was pending is over.
  virtual void onDeregistered(Region& region) = 0;
};

class Adapter {
 public:
  virtual ~Adapter() = default;  // after all that was made from it
  [[nodiscard]] virtual const Capabilities& capabilities() const = 0;
  [[nodiscard]] virtual const Limits& limits() const = 0;

  virtual std::unique_ptr<CompletionQueue> createCompletionQueue(std::uint32_t slots,
                                                                 Failure& failure) = 0;
  virtual std::unique_ptr<QueuePair> createQueuePair(CompletionQueue& completions,
                                                     const QueuePairOptions& options,
                                                     Failure& failure) = 0;
  virtual std::unique_ptr<Connector> createConnector(Failure& failure) = 0;
  // Done at once; port 0 takes a free one.
  virtual std::unique_ptr<Listener> listen(const Address& at, std::uint32_t backlog,
                                           Failure& failure) = 0;

  // Takes the region away from every peer. Done, or pending and then onDeregistered.
  virtual ControlResult deregister(Region& region) = 0;

  // Moves everything that can be moved now, a bounded amount per connection; true: something moved.
  virtual bool progress(std::uint64_t nowNanoseconds) = 0;
  // Asks to be woken through the wait set. False: there is work now, do not park. Undone by
  // disarm().
  virtual bool arm() = 0;
  virtual void disarm() = 0;
  // When progress() must run again even if nothing happens (a handshake's deadline); 0: never.
  [[nodiscard]] virtual std::uint64_t deadlineNanoseconds() const = 0;
};

struct AdapterReport {
  std::string name{};
  Capabilities capabilities{};
  Limits limits{};
};

struct ProviderReport {
  std::string name{};
  bool available = false;
  std::vector<std::string> reasons{};  // why not, or what was chosen; whole sentences
  std::vector<AdapterReport> adapters{};
};

class Provider {
 public:
  virtual ~Provider() = default;
  [[nodiscard]] virtual const char* name() const = 0;
  // Any thread, blocking: looks at the machine, keeps nothing.
  [[nodiscard]] virtual ProviderReport probe() = 0;
  virtual std::unique_ptr<Adapter> openAdapter(os::WaitSet& waitSet, AdapterEvents& events,
                                               FaultInjector& faults, Failure& failure) = 0;
};

// In the order in which `auto` tries them. providers/registry.cc is the one place that names them.
std::span<Provider* const> providers();

}  // namespace queuepair
