// A lane's making and its step. Parking and the end are in lane_park.cc and lane_shutdown.cc.
#include "core/lane.h"

#include <cerrno>
#include <chrono>
#include <thread>
#include <utility>

#include "core/os/clock.h"
#include "core/record.h"

namespace queuepair {
namespace {

// The default depth of the model; connections reserve what they need on top.
constexpr std::uint32_t kInitialCompletionSlots = 256;
// Steps in one call when others keep failing to take the token. Who called is asked to come again.
constexpr int kMaxRounds = 4;

}  // namespace

Lane::Lane(std::span<std::byte> shared, const Geometry& geometry, OwnerWaker& waker)
    : geometry_(geometry),
      header_(shared.data()),
      token_(header_),
      submissions_(header_, shared.data() + geometry.submissionRingAt, geometry.submissionCapacity),
      completions_(
          header_,
          {header_, shared.data() + geometry.completionRingAt, geometry.completionCapacity},
          geometry.laneIndex),
      events_(header_),
      ownerWake_(header_, waker, faults_),
      releases_(regions_, events_),
      connections_(header_, geometry.completionCapacity, completions_, events_, faults_),
      drain_(connections_, faults_),
      control_(connections_, releases_, events_) {}

std::unique_ptr<Lane> Lane::open(Provider& provider, std::span<std::byte> shared, OwnerWaker& waker,
                                 Failure& failure) {
  Geometry geometry;
  const char* detail = nullptr;
  if (!readGeometry(shared, geometry, detail)) {
    failure = {.fault = Fault::kInvalidArgument, .detail = detail};
    return nullptr;
  }
  std::unique_ptr<Lane> lane(new Lane(shared, geometry, waker));
  if (!lane->openProvider(provider, failure)) return nullptr;
  return lane;
}

bool Lane::openProvider(Provider& provider, Failure& failure) {
  if (!waitSet_.valid() || !connections_.valid()) {
    failure = {.fault = Fault::kOutOfResources,
               .osError = errno,
               .detail = "the kernel gave no descriptors or memory for a lane"};
    return false;
  }
  adapter_ = provider.openAdapter(waitSet_, control_, faults_, failure);
  if (adapter_ != nullptr) {
    queue_ = adapter_->createCompletionQueue(kInitialCompletionSlots, failure);
  }
  if (queue_ == nullptr) {
    if (!failure.failed()) failure.fault = Fault::kInternal;
    return false;
  }
  capabilities_ = adapter_->capabilities();
  limits_ = adapter_->limits();
  connections_.attach(*adapter_, *queue_);
  control_.attach(*adapter_);
  return true;
}

Handle Lane::createConnection() { return connections_.create(); }

Handle Lane::createListener() { return control_.createListener(); }

Handle Lane::addRegion(std::unique_ptr<Region> region) { return regions_.add(std::move(region)); }

std::vector<Event> Lane::takeEvents() { return events_.takeAll(); }

bool Lane::visitRegion(Handle region, void (*visit)(Region&)) {
  bool wasLast = false;
  if (!regions_.visit(region, visit, wasLast)) return false;
  if (wasLast) waitSet_.ring();  // its release waited for us
  return true;
}

Lane::StepResult Lane::step(Role role) {
  bool moved = false;
  for (int round = 0; round < kMaxRounds; ++round) {
    if (!token_.tryTake(role)) return moved ? StepResult::kMoved : StepResult::kBusy;
    moved |= stepOnce(role);
    if (!token_.release()) return moved ? StepResult::kMoved : StepResult::kIdle;
  }
  return StepResult::kMoved;
}

bool Lane::stepOnce(Role role) {
  if (shutDown_) return false;
  std::uint64_t stallMicroseconds = 0;
  if (faults_.fires(FaultPoint::kStepStalls, stallMicroseconds)) {
    std::this_thread::sleep_for(std::chrono::microseconds(stallMicroseconds));
  }
  const std::uint64_t now = os::nowNanoseconds();
  if (armed_ && role == Role::kPoller) disarmProvider();
  bool moved = waitSet_.dispatch() > 0;
  requests_.takeAll(taken_);
  moved |= drainSubmissions();
  moved |= executeControl();
  failIfBroken();
  moved |= connections_.moveWaiting();
  connections_.ringDoorbells();
  moved |= adapter_->progress(now);
  moved |= drain_.run(*queue_);
  moved |= connections_.finishEnding();
  moved |= releases_.advance(*adapter_);
  return publish(now) || moved;
}

bool Lane::drainSubmissions() {
  if (broken_) return false;
  const std::uint32_t waiting = submissions_.waiting();
  if (waiting == 0) return false;
  if (!submissions_.isSound(waiting)) {
    broken_ = true;
    return false;
  }
  const RecordRules rules{regions_, capabilities_, limits_};
  SubmissionRecord record;
  for (std::uint32_t index = 0; index < waiting; ++index) {
    readRecord(submissions_.next(), record);
    admit(record, rules);
  }
  submissions_.publishHead();
  return true;
}

void Lane::admit(const SubmissionRecord& record, const RecordRules& rules) {
  Connection* connection = connections_.find(record.connection);
  if (connection == nullptr || connection->state == ConnectionState::kEnded) {
    return completions_.refuse(record, Status::kFlushed);
  }
  // Not zeroed: 200 bytes a record that resolveRecord() fills anyway.
  WorkRequest request;  // NOLINT(cppcoreguidelines-pro-type-member-init)
  Status status = Status::kLocalQueuePairOperation;
  if (record.lane == geometry_.laneIndex && connections_.slotIsFree(record.operationSlot)) {
    status = resolveRecord(record, rules, request);
  }
  if (status == Status::kSuccess) return connections_.submit(*connection, request);
  completions_.refuse(record, status);
  connections_.end(*connection, {.fault = Fault::kOperationFailed, .status = status});
}

bool Lane::executeControl() {
  for (ControlRequest& request : taken_) control_.execute(request);
  return !taken_.empty();
}

// An owner that broke the protocol of the rings gets its connections ended, once; what it asks for
// by control requests is still done.
void Lane::failIfBroken() {
  if (!broken_ && !completions_.overflowed()) return;
  broken_ = true;
  connections_.endAll(Fault::kInternal, "the lane's shared memory is corrupt");
}

// Events after completions, so that whoever sees an end finds all completions before it.
bool Lane::publish(std::uint64_t now) {
  const bool completions = completions_.publish();
  const bool events = events_.publish();
  ownerWake_.afterStep(completions || events, !broken_, now);
  if (ownerWake_.lookIsDue(now)) {
    ownerWake_.look(completions_.unread() || events_.untaken(), !broken_, now);
  }
  return completions || events;
}

}  // namespace queuepair
