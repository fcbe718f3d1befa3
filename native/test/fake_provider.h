// A provider without a network, which tests steer: what each control call answers, which work
// completes and when, which notices come. All of it lies in one script that outlives the lane.
#pragma once

#include <algorithm>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/provider.h"

namespace queuepair::test {

class FakeQueuePair;
class FakeConnector;
class FakeListener;

struct FakeScript {
  // Answers.
  ControlResult connect = ControlResult::pending();
  ControlResult accept = ControlResult::pending();
  ControlResult reject = ControlResult::done();
  ControlResult disconnect = ControlResult::pending();
  ControlResult deregister = ControlResult::done();
  PostResult post = PostResult::kPosted;
  bool adapterFails = false;
  bool queueFails = false;
  bool queueGrows = true;
  bool pairFails = false;
  bool connectorFails = false;
  bool listenFails = false;
  bool flushesAtOnce = true;     // fail() puts the flushes into the queue itself
  bool completesAtOnce = false;  // sends and flushes succeed as they are posted
  bool armAnswer = true;
  std::uint64_t deadline = 0;
  Capabilities capabilities{.read = true, .write = true, .atomics = true};
  Limits limits{.maxDepth = 128, .maxMessageBytes = 1 << 20};

  // What happened.
  std::vector<std::string> calls{};
  std::vector<FakeQueuePair*> pairs{};  // alive, in the order of their making
  std::vector<FakeConnector*> connectors{};
  std::vector<FakeListener*> listeners{};
  std::vector<Region*> deregistered{};
  std::deque<WorkCompletion> queue{};
  std::int64_t reservedSlots = 0;
  std::uint64_t progressed = 0;
  bool armed = false;
  bool adapterAlive = false;
  bool queueAlive = false;

  // Run by the next progress(), as a provider's notices are.
  std::vector<std::function<void(AdapterEvents&)>> notices{};

  void note(std::string call) { calls.push_back(std::move(call)); }
  [[nodiscard]] std::size_t count(const std::string& call) const {
    return static_cast<std::size_t>(std::count(calls.begin(), calls.end(), call));
  }
};

template <typename T>
void forgetOne(std::vector<T*>& from, const T* which) {
  std::erase(from, which);
}

class FakeQueuePair final : public QueuePair {
 public:
  FakeQueuePair(FakeScript& script, const QueuePairOptions& asked)
      : options(asked), script_(script) {
    script_.pairs.push_back(this);
  }
  ~FakeQueuePair() override {
    script_.note("destroyPair");
    forgetOne(script_.pairs, this);
  }

  PostResult postSend(const WorkRequest& request) override { return post(request, sends, "send"); }
  PostResult postReceive(const WorkRequest& request) override {
    return post(request, receives, "receive");
  }
  void ringDoorbell() override { script_.note("doorbell"); }
  void fail() override {
    script_.note("fail");
    if (script_.flushesAtOnce) flushAll();
  }
  void flushReceives() override {
    script_.note("flushReceives");
    flush(receives);
  }

  void flushAll() {
    flush(sends);
    flush(receives);
  }
  // Completes the oldest request of a direction.
  void complete(std::deque<WorkRequest>& from, Status status = Status::kSuccess) {
    const WorkRequest request = from.front();
    from.pop_front();
    script_.queue.push_back({.id = request.id,
                             .context = options.context,
                             .opcode = request.opcode,
                             .status = status,
                             .flags = request.flags,
                             .immediate = request.immediate,
                             .byteLength = status == Status::kSuccess ? request.byteLength : 0,
                             .result = 0});
  }

  QueuePairOptions options;
  std::deque<WorkRequest> sends{};
  std::deque<WorkRequest> receives{};

 private:
  PostResult post(const WorkRequest& request, std::deque<WorkRequest>& into, const char* name) {
    if (script_.post != PostResult::kPosted) return script_.post;
    script_.note(name);
    into.push_back(request);
    if (script_.completesAtOnce && &into == &sends) complete(into);
    return PostResult::kPosted;
  }
  void flush(std::deque<WorkRequest>& from) {
    while (!from.empty()) complete(from, Status::kFlushed);
  }

  FakeScript& script_;
};

class FakeConnector final : public Connector {
 public:
  explicit FakeConnector(FakeScript& script) : script_(script) {
    script_.connectors.push_back(this);
  }
  ~FakeConnector() override {
    script_.note("destroyConnector");
    forgetOne(script_.connectors, this);
  }

  ControlResult connect(QueuePair&, const Address&, std::span<const std::byte>) override {
    script_.note("connect");
    return script_.connect;
  }
  ControlResult accept(QueuePair&, std::span<const std::byte>) override {
    script_.note("accept");
    return script_.accept;
  }
  ControlResult reject(std::span<const std::byte>) override {
    script_.note("reject");
    return script_.reject;
  }
  ControlResult disconnect() override {
    script_.note("disconnect");
    return script_.disconnect;
  }
  [[nodiscard]] Peer peer() const override {
    return {.address = {"127.0.0.2", 7}, .processId = 42};
  }
  [[nodiscard]] Address localAddress() const override { return {"127.0.0.1", 8}; }
  [[nodiscard]] std::span<const std::byte> privateData() const override { return bytes; }

  std::vector<std::byte> bytes{std::byte{1}, std::byte{2}};

 private:
  FakeScript& script_;
};

class FakeListener final : public Listener {
 public:
  explicit FakeListener(FakeScript& script) : script_(script) { script_.listeners.push_back(this); }
  ~FakeListener() override {
    script_.note("destroyListener");
    forgetOne(script_.listeners, this);
  }
  [[nodiscard]] Address localAddress() const override { return {"127.0.0.1", 9}; }

 private:
  FakeScript& script_;
};

class FakeCompletionQueue final : public CompletionQueue {
 public:
  explicit FakeCompletionQueue(FakeScript& script) : script_(script) { script_.queueAlive = true; }
  ~FakeCompletionQueue() override {
    script_.note("destroyQueue");
    script_.queueAlive = false;
  }
  bool reserve(std::uint32_t slots) override {
    if (script_.queueGrows) script_.reservedSlots += slots;
    return script_.queueGrows;
  }
  void release(std::uint32_t slots) override { script_.reservedSlots -= slots; }
  std::size_t poll(std::span<WorkCompletion> into) override {
    std::size_t count = 0;
    while (count < into.size() && !script_.queue.empty()) {
      into[count++] = script_.queue.front();
      script_.queue.pop_front();
    }
    return count;
  }

 private:
  FakeScript& script_;
};

template <typename T, typename... Arguments>
std::unique_ptr<T> makeUnless(bool fails, Failure& failure, Arguments&&... arguments) {
  if (!fails) return std::make_unique<T>(std::forward<Arguments>(arguments)...);
  failure = {.fault = Fault::kOutOfResources, .osError = 12, .detail = "scripted"};
  return nullptr;
}

class FakeAdapter final : public Adapter {
 public:
  FakeAdapter(FakeScript& script, AdapterEvents& events) : script_(script), events_(events) {
    script_.adapterAlive = true;
  }
  ~FakeAdapter() override {
    script_.note("destroyAdapter");
    script_.adapterAlive = false;
  }
  [[nodiscard]] const Capabilities& capabilities() const override { return script_.capabilities; }
  [[nodiscard]] const Limits& limits() const override { return script_.limits; }
  std::unique_ptr<CompletionQueue> createCompletionQueue(std::uint32_t, Failure& why) override {
    return makeUnless<FakeCompletionQueue>(script_.queueFails, why, script_);
  }
  std::unique_ptr<QueuePair> createQueuePair(CompletionQueue&, const QueuePairOptions& options,
                                             Failure& why) override {
    return makeUnless<FakeQueuePair>(script_.pairFails, why, script_, options);
  }
  std::unique_ptr<Connector> createConnector(Failure& why) override {
    return makeUnless<FakeConnector>(script_.connectorFails, why, script_);
  }
  std::unique_ptr<Listener> listen(const Address&, std::uint32_t, Failure& why) override {
    return makeUnless<FakeListener>(script_.listenFails, why, script_);
  }
  ControlResult deregister(Region& region) override {
    script_.note("deregister");
    script_.deregistered.push_back(&region);
    return script_.deregister;
  }
  bool progress(std::uint64_t) override {
    ++script_.progressed;
    auto notices = std::move(script_.notices);
    script_.notices.clear();
    for (const auto& notice : notices) notice(events_);
    return !notices.empty();
  }
  bool arm() override {
    script_.armed = script_.armAnswer;
    return script_.armAnswer;
  }
  void disarm() override { script_.armed = false; }
  [[nodiscard]] std::uint64_t deadlineNanoseconds() const override { return script_.deadline; }

 private:
  FakeScript& script_;
  AdapterEvents& events_;
};

class FakeProvider final : public Provider {
 public:
  explicit FakeProvider(FakeScript& script) : script_(script) {}
  [[nodiscard]] const char* name() const override { return "fake"; }
  [[nodiscard]] ProviderReport probe() override { return {.name = "fake", .available = true}; }
  std::unique_ptr<Adapter> openAdapter(os::WaitSet&, AdapterEvents& events, FaultInjector&,
                                       Failure& why) override {
    return makeUnless<FakeAdapter>(script_.adapterFails, why, script_, events);
  }

 private:
  FakeScript& script_;
};

}  // namespace queuepair::test
