// Lanes by number, for all threads of the process: the owner, the poller and the pool's threads
// each load the addon into an environment of their own and meet here.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "binding/owner_waker.h"
#include "core/lane.h"

namespace queuepair::binding {

// What threads share of a lane. JavaScript references are not here: they belong to one environment
// each and lie in environment.h.
struct SharedLane {
  SharedLane() = default;
  ~SharedLane();
  SharedLane(const SharedLane&) = delete;
  SharedLane& operator=(const SharedLane&) = delete;

  std::uint32_t id = 0;
  std::span<std::byte> memory{};
  ThreadSafeWaker waker{};                  // before the lane, which calls it until it is destroyed
  std::unique_ptr<Lane> lane{};             // never null once the record is in the table
  std::atomic<bool> stopping{false};        // ends what runs in slices outside the lane
  std::atomic<bool> pollerAttached{false};  // a lane has one poller in its life
};

using LaneReference = std::shared_ptr<SharedLane>;

// Sets the record's id and enters it. Ids are never reused.
void enterLane(const LaneReference& record);
void forgetLane(std::uint32_t id);
// Null when there is no such lane, or no more.
LaneReference findLane(std::uint32_t id);

}  // namespace queuepair::binding
