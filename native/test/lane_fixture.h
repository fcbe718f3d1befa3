// A lane over the fake provider, with an owner beside it, stepped by hand.
#pragma once

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "core/lane.h"
#include "test/fake_provider.h"
#include "test/test_owner.h"

namespace queuepair::test {

class CountingWaker final : public OwnerWaker {
 public:
  void wake() noexcept override { wakes.fetch_add(1); }
  std::atomic<int> wakes{0};
};

struct LaneFixture {
  explicit LaneFixture(const OwnerOptions& options = {}) : owner(options) {
    lane = Lane::open(provider, owner.memory(), waker, failure);
  }

  Handle region(std::size_t byteLength) {
    auto& bytes = buffers.emplace_back(std::make_unique<std::byte[]>(byteLength));
    return lane->addRegion(
        std::make_unique<Region>(bytes.get(), byteLength, std::uint8_t{kLocalOnly}));
  }

  // A record of one segment, with the next free op slot.
  SubmissionRecord record(Opcode opcode, Handle connection, Handle region = {},
                          std::uint64_t length = 0) {
    SubmissionRecord made{.opcode = static_cast<std::uint8_t>(opcode),
                          .flags = kSignaled,
                          .segmentCount = static_cast<std::uint8_t>(region.generation == 0 ? 0 : 1),
                          .connection = connection,
                          .operationSlot = nextSlot++,
                          .operationGeneration = 1};
    made.segments[0] = {region, 0, length};
    return made;
  }
  // Submits it and returns its op slot.
  std::uint32_t submit(Opcode opcode, Handle connection, Handle region = {},
                       std::uint64_t length = 0) {
    const SubmissionRecord made = record(opcode, connection, region, length);
    owner.submit(made);
    return made.operationSlot;
  }
  void control(ControlKind kind, Handle object) {
    lane->control({.kind = kind,
                   .object = object,
                   .address = {"127.0.0.1", 1},
                   .backlog = 2,
                   .sendDepth = 4,
                   .receiveDepth = 4});
  }
  Lane::StepResult step() { return lane->step(Role::kPoller); }
  // Until nothing moves, but for a bound.
  void settle() {
    for (int count = 0; count < 100 && step() == Lane::StepResult::kMoved; ++count) {
    }
  }
  void notice(std::function<void(AdapterEvents&)> what) {
    script.notices.push_back(std::move(what));
  }
  std::vector<Event> events() { return lane->takeEvents(); }
  // The statuses of what completed since the last call, as "slot:status" in order.
  std::string completions() {
    std::string all;
    for (const CompletionRecord& record : owner.takeAll()) {
      all += (all.empty() ? "" : " ") + std::to_string(record.operationSlot) + ":" +
             statusName(static_cast<Status>(record.status));
    }
    return all;
  }

  // A connection that is established.
  Handle establish() {
    const Handle connection = lane->createConnection();
    control(ControlKind::kConnect, connection);
    step();
    FakeConnector* connector = script.connectors.back();
    notice([connector](AdapterEvents& to) { to.onEstablished(*connector); });
    settle();
    lane->takeEvents();
    script.calls.clear();
    return connection;
  }
  // A request that came in through a listener that listens already.
  void request(FakeListener& listener) {
    notice([this, &listener](AdapterEvents& to) {
      admitted = to.admitsRequest(listener);
      if (admitted) to.onConnectionRequest(listener, std::make_unique<FakeConnector>(script));
    });
    settle();
  }

  FakeScript script{};
  FakeProvider provider{script};
  TestOwner owner;
  CountingWaker waker{};
  Failure failure{};
  std::vector<std::unique_ptr<std::byte[]>> buffers{};
  std::unique_ptr<Lane> lane{};  // last: destroyed first
  std::uint32_t nextSlot = 0;
  bool admitted = false;
};

// The kinds of events, in order.
inline std::string kindsOf(const std::vector<Event>& events) {
  static const char* const kNames[] = {"?",         "listening",   "listener-closed",
                                       "request",   "established", "disconnected",
                                       "destroyed", "released"};
  std::string all;
  for (const Event& event : events) {
    all += (all.empty() ? "" : " ") + std::string(kNames[static_cast<std::size_t>(event.kind)]);
  }
  return all;
}

}  // namespace queuepair::test
