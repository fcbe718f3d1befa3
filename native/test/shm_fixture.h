// Two sides of the shm provider in one process, driven by hand: nothing here sleeps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/fault.h"
#include "core/os/wait_set.h"
#include "core/provider.h"
#include "core/region.h"
#include "core/work.h"

namespace shmtest {

using namespace queuepair;

/// Records what the adapter reports, and holds the connectors that it delivers.
class Recorder final : public AdapterEvents {
 public:
  bool admitsRequest(Listener&) override { return admits; }
  void onConnectionRequest(Listener&, std::unique_ptr<Connector> connector) override {
    requests.push_back(std::move(connector));
  }
  void onEstablished(Connector& connector) override { established.push_back(&connector); }
  void onDisconnected(Connector& connector, const Failure& why) override {
    disconnected.push_back({&connector, why});
  }
  void onDeregistered(Region&) override {}

  /// Before a new connector is followed, which may lie where an earlier one lay.
  void forget(const Connector& connector);
  [[nodiscard]] bool isEstablished(const Connector& connector) const;
  /// kNone while it is connected.
  [[nodiscard]] Fault endOf(const Connector& connector) const;
  [[nodiscard]] std::size_t endsOf(const Connector& connector) const;

  struct End {
    Connector* connector;
    Failure why;
  };
  bool admits = true;
  std::vector<std::unique_ptr<Connector>> requests;
  std::vector<Connector*> established;
  std::vector<End> disconnected;
};

/// One engine's share: wait set, adapter, completion queue.
struct Host {
  Host();
  ~Host() { events.requests.clear(); }  // before the adapter that made them
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;
  /// One look at the sockets and one round of progress. True: something moved.
  bool step();
  void collect();  // completions into `completions`

  os::WaitSet waitSet;
  FaultInjector faults;
  Recorder events;
  std::unique_ptr<Adapter> adapter;
  std::unique_ptr<CompletionQueue> queue;
  std::vector<WorkCompletion> completions;
  std::uint64_t now = 1;  // the time that progress() is told
};

/// A region and the memory behind it, with guard bytes on both sides where it is not engine memory.
class Memory {
 public:
  static Memory engine(std::size_t byteLength);
  static Memory plain(std::size_t byteLength);
  Memory(Memory&& other) noexcept;
  Memory& operator=(Memory&&) = delete;
  ~Memory();

  [[nodiscard]] Region& region() const { return *region_; }
  [[nodiscard]] std::span<std::byte> bytes() const {
    return {region_->data(), static_cast<std::size_t>(region_->byteLength())};
  }
  [[nodiscard]] Segment segment(std::size_t offset, std::size_t length) const;
  [[nodiscard]] Segment all() const { return segment(0, bytes().size()); }
  [[nodiscard]] bool guardsIntact() const;
  void fill(std::uint64_t seed) const;
  void clear() const;

 private:
  Memory() = default;
  std::unique_ptr<std::byte[]> heap_;
  std::unique_ptr<Region> region_;
  std::byte* reserved_ = nullptr;
  std::size_t reservedBytes_ = 0;
};

WorkRequest request(Opcode opcode, std::uint64_t id, std::initializer_list<Segment> segments);
WorkRequest request(Opcode opcode, std::uint64_t id, std::span<const Segment> segments);

/// A queue pair and its connector, which go in the order in which the lane lets them go.
struct Endpoint {
  /// For a request that came in, or one that connects.
  explicit Endpoint(Host& host, std::unique_ptr<Connector> request = nullptr,
                    std::uint32_t depth = 16);
  ControlResult connect(const Address& to, std::span<const std::byte> privateData = {}) {
    return connector->connect(*pair, to, privateData);
  }
  ControlResult accept(std::span<const std::byte> privateData = {}) {
    return connector->accept(*pair, privateData);
  }
  [[nodiscard]] bool established() const { return host.events.isEstablished(*connector); }
  [[nodiscard]] Fault end() const { return host.events.endOf(*connector); }

  Host& host;
  std::unique_ptr<QueuePair> pair;
  std::unique_ptr<Connector> connector;
};

/// Steps both until `condition()` or the bound. True: the condition held.
template <typename Condition>
bool drive(Host& a, Host& b, Condition condition, int steps = 1000) {
  for (int i = 0; i < steps && !condition(); ++i) {
    a.step();
    b.step();
  }
  return condition();
}

/// Listens at a free port of 127.0.0.1.
std::unique_ptr<Listener> listenAnywhere(Host& host);

/// Two connected queue pairs.
struct Pair {
  explicit Pair(std::uint32_t depth = 64);
  ~Pair();
  bool connect();  // false: it failed; counted as such
  bool step();
  /// Steps both sides until `condition()` or the bound. True: the condition held.
  template <typename Condition>
  bool drive(Condition condition, int steps = 100'000) {
    for (int i = 0; i < steps; ++i) {
      if (condition()) return true;
      step();
    }
    return condition();
  }
  /// Until neither side has anything to do.
  void settle();

  std::uint32_t depth;
  Host a;  // connects
  Host b;  // listens
  std::unique_ptr<Listener> listener;
  std::unique_ptr<QueuePair> qpA;
  std::unique_ptr<QueuePair> qpB;
  std::unique_ptr<Connector> connA;
  std::unique_ptr<Connector> connB;
};

/// How often this process has memory of that name mapped.
std::size_t mappingsOf(const std::string& name);
std::size_t openDescriptors();

/// The completion with this id on that host, or null.
const WorkCompletion* find(const Host& host, std::uint64_t id);
std::vector<std::byte> bytesOf(const std::string& text);
std::string textOf(std::span<const std::byte> bytes);

/// A small fast generator, so that a failing run can be repeated from its seed.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15ULL + 1) {}
  std::uint64_t next();
  std::uint64_t below(std::uint64_t bound) { return bound == 0 ? 0 : next() % bound; }

 private:
  std::uint64_t state_;
};

}  // namespace shmtest
