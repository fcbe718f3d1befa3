// The numbers of the core's headers by name. A constant kTailAt of layout.h is `tailAt`, one of its
// namespace submission `submissionTailAt`; a value kListen of ControlKind is `controlKindListen`.
#include <cstdint>

#include "binding/bindings.h"
#include "binding/convert.h"
#include "core/control.h"
#include "core/fault.h"
#include "core/lane.h"
#include "core/layout.h"
#include "core/poller.h"
#include "core/region.h"
#include "core/status.h"
#include "core/work.h"

namespace queuepair::binding {
namespace {

struct NamedNumber {
  const char* name;
  std::uint32_t value;
};

template <typename Value>
constexpr NamedNumber entry(const char* name, Value value) {
  return {name, static_cast<std::uint32_t>(value)};
}

constexpr NamedNumber kNumbers[] = {
    entry("magic", layout::kMagic),
    entry("version", layout::kVersion),
    entry("line", layout::kLine),
    entry("span", layout::kSpan),
    entry("magicAt", layout::kMagicAt),
    entry("versionAt", layout::kVersionAt),
    entry("laneIndexAt", layout::kLaneIndexAt),
    entry("submissionCapacityAt", layout::kSubmissionCapacityAt),
    entry("completionCapacityAt", layout::kCompletionCapacityAt),
    entry("submissionRingAt", layout::kSubmissionRingAt),
    entry("completionRingAt", layout::kCompletionRingAt),
    entry("submissionTailAt", layout::kSubmissionTailAt),
    entry("completionHeadAt", layout::kCompletionHeadAt),
    entry("ownerArmedAt", layout::kOwnerArmedAt),
    entry("ownerWantsSpaceAt", layout::kOwnerWantsSpaceAt),
    entry("stopAt", layout::kStopAt),
    entry("submissionHeadAt", layout::kSubmissionHeadAt),
    entry("completionTailAt", layout::kCompletionTailAt),
    entry("eventsPostedAt", layout::kEventsPostedAt),
    entry("tokenAt", layout::kTokenAt),
    entry("againAt", layout::kAgainAt),
    entry("pollerParkedAt", layout::kPollerParkedAt),
    entry("pollerStateAt", layout::kPollerStateAt),
    entry("stepCountersAt", layout::kStepCountersAt),
    entry("pollerCountersAt", layout::kPollerCountersAt),
    entry("headerBytes", layout::kHeaderBytes),
    entry("submissionBytes", layout::kSubmissionBytes),
    entry("submissionOpcodeAt", layout::submission::kOpcodeAt),
    entry("submissionFlagsAt", layout::submission::kFlagsAt),
    entry("submissionSegmentCountAt", layout::submission::kSegmentCountAt),
    entry("submissionLaneAt", layout::submission::kLaneAt),
    entry("submissionConnectionSlotAt", layout::submission::kConnectionSlotAt),
    entry("submissionConnectionGenerationAt", layout::submission::kConnectionGenerationAt),
    entry("submissionOperationSlotAt", layout::submission::kOperationSlotAt),
    entry("submissionOperationGenerationAt", layout::submission::kOperationGenerationAt),
    entry("submissionImmediateAt", layout::submission::kImmediateAt),
    entry("submissionSegmentBytes", layout::submission::kSegmentBytes),
    entry("submissionSegmentAt0", layout::submission::kSegmentAt[0]),
    entry("submissionSegmentAt1", layout::submission::kSegmentAt[1]),
    entry("submissionSegmentAt2", layout::submission::kSegmentAt[2]),
    entry("submissionSegmentAt3", layout::submission::kSegmentAt[3]),
    entry("submissionRemoteSlotAt", layout::submission::kRemoteSlotAt),
    entry("submissionRemoteGenerationAt", layout::submission::kRemoteGenerationAt),
    entry("submissionRemoteOffsetAt", layout::submission::kRemoteOffsetAt),
    entry("submissionOperandAt", layout::submission::kOperandAt),
    entry("submissionSwapAt", layout::submission::kSwapAt),
    entry("completionBytes", layout::kCompletionBytes),
    entry("completionOperationSlotAt", layout::completion::kOperationSlotAt),
    entry("completionOperationGenerationAt", layout::completion::kOperationGenerationAt),
    entry("completionStatusAt", layout::completion::kStatusAt),
    entry("completionFlagsAt", layout::completion::kFlagsAt),
    entry("completionOpcodeAt", layout::completion::kOpcodeAt),
    entry("completionLaneAt", layout::completion::kLaneAt),
    entry("completionImmediateAt", layout::completion::kImmediateAt),
    entry("completionByteLengthAt", layout::completion::kByteLengthAt),
    entry("completionResultAt", layout::completion::kResultAt),
    entry("stepCounterPostsSend", layout::kPostsSend),
    entry("stepCounterPostsReceive", layout::kPostsReceive),
    entry("stepCounterPostsRead", layout::kPostsRead),
    entry("stepCounterPostsWrite", layout::kPostsWrite),
    entry("stepCounterPostsAtomic", layout::kPostsAtomic),
    entry("stepCounterBytesSent", layout::kBytesSent),
    entry("stepCounterBytesReceived", layout::kBytesReceived),
    entry("stepCounterBytesRead", layout::kBytesRead),
    entry("stepCounterBytesWritten", layout::kBytesWritten),
    entry("stepCounterOwnerWakes", layout::kOwnerWakes),
    entry("stepCounterPostAgain", layout::kPostAgain),
    entry("stepCounterRecordsRefused", layout::kRecordsRefused),
    entry("stepCounterCompletionsByStatus", layout::kCompletionsByStatus),
    entry("stepCounterCount", layout::kStepCounterCount),
    entry("pollerCounterSteps", layout::kSteps),
    entry("pollerCounterIdleSteps", layout::kIdleSteps),
    entry("pollerCounterParks", layout::kParks),
    entry("pollerCounterParkTimeouts", layout::kParkTimeouts),
    entry("pollerCounterCount", layout::kPollerCounterCount),
    entry("opcodeSend", Opcode::kSend),
    entry("opcodeReceive", Opcode::kReceive),
    entry("opcodeRead", Opcode::kRead),
    entry("opcodeWrite", Opcode::kWrite),
    entry("opcodeFetchAdd", Opcode::kFetchAdd),
    entry("opcodeCompareSwap", Opcode::kCompareSwap),
    entry("opcodeFlush", Opcode::kFlush),
    entry("workFlagSignaled", kSignaled),
    entry("workFlagImmediate", kImmediate),
    entry("controlKindListen", ControlKind::kListen),
    entry("controlKindCloseListener", ControlKind::kCloseListener),
    entry("controlKindConnect", ControlKind::kConnect),
    entry("controlKindAccept", ControlKind::kAccept),
    entry("controlKindReject", ControlKind::kReject),
    entry("controlKindDisconnect", ControlKind::kDisconnect),
    entry("controlKindDestroy", ControlKind::kDestroy),
    entry("controlKindFlushReceives", ControlKind::kFlushReceives),
    entry("controlKindReleaseRegion", ControlKind::kReleaseRegion),
    entry("eventKindListening", EventKind::kListening),
    entry("eventKindListenerClosed", EventKind::kListenerClosed),
    entry("eventKindConnectionRequest", EventKind::kConnectionRequest),
    entry("eventKindEstablished", EventKind::kEstablished),
    entry("eventKindDisconnected", EventKind::kDisconnected),
    entry("eventKindDestroyed", EventKind::kDestroyed),
    entry("eventKindRegionReleased", EventKind::kRegionReleased),
    entry("accessLocalOnly", kLocalOnly),
    entry("accessRemoteRead", kRemoteRead),
    entry("accessRemoteWrite", kRemoteWrite),
    entry("accessRemoteAtomic", kRemoteAtomic),
    entry("faultPointCompletionDelay", FaultPoint::kCompletionDelay),
    entry("faultPointCompletionStatus", FaultPoint::kCompletionStatus),
    entry("faultPointPostAgain", FaultPoint::kPostAgain),
    entry("faultPointRegistrationFails", FaultPoint::kRegistrationFails),
    entry("faultPointOwnerWakeSwallowed", FaultPoint::kOwnerWakeSwallowed),
    entry("faultPointPollerWakeSwallowed", FaultPoint::kPollerWakeSwallowed),
    entry("faultPointStepStalls", FaultPoint::kStepStalls),
    entry("faultPointPeerRecordCorrupted", FaultPoint::kPeerRecordCorrupted),
    entry("pollingModeAdaptive", PollingMode::kAdaptive),
    entry("pollingModeSpin", PollingMode::kSpin),
    entry("pollingModeEvent", PollingMode::kEvent),
    entry("pollerStateStepping", PollerState::kStepping),
    entry("pollerStateWatching", PollerState::kWatching),
    entry("pollerStateParked", PollerState::kParked),
    entry("roleNone", Role::kNone),
    entry("roleOwner", Role::kOwner),
    entry("rolePoller", Role::kPoller),
    entry("faultNone", Fault::kNone),
    entry("faultInvalidArgument", Fault::kInvalidArgument),
    entry("faultInvalidState", Fault::kInvalidState),
    entry("faultAddressInUse", Fault::kAddressInUse),
    entry("faultAddressNotLocal", Fault::kAddressNotLocal),
    entry("faultUnreachable", Fault::kUnreachable),
    entry("faultRejected", Fault::kRejected),
    entry("faultPeerClosed", Fault::kPeerClosed),
    entry("faultPeerLost", Fault::kPeerLost),
    entry("faultProtocol", Fault::kProtocol),
    entry("faultPermission", Fault::kPermission),
    entry("faultOutOfResources", Fault::kOutOfResources),
    entry("faultUnsupported", Fault::kUnsupported),
    entry("faultOperationFailed", Fault::kOperationFailed),
    entry("faultClosedLocally", Fault::kClosedLocally),
    entry("faultInternal", Fault::kInternal),
    entry("faultBacklogFull", Fault::kBacklogFull),
    entry("statusCount", kStatusCount),
    entry("faultCount", kFaultCount),
    entry("faultPointCount", kFaultPointCount),
    entry("maxSegments", kMaxSegments),
};

template <typename Name>
Napi::Array names(Napi::Env env, std::uint32_t count, Name name) {
  Napi::Array array = Napi::Array::New(env, count);
  for (std::uint32_t value = 0; value < count; ++value) array.Set(value, name(value));
  return array;
}

}  // namespace

Napi::Value layout(const Napi::CallbackInfo& info) {
  Napi::Object object = Napi::Object::New(info.Env());
  for (const NamedNumber& number : kNumbers) {
    object.Set(number.name, Napi::Number::New(info.Env(), number.value));
  }
  return object;
}

Napi::Value statusNames(const Napi::CallbackInfo& info) {
  return names(info.Env(), kStatusCount,
               [](std::uint32_t value) { return statusName(static_cast<Status>(value)); });
}

Napi::Value faultNames(const Napi::CallbackInfo& info) {
  return names(info.Env(), kFaultCount,
               [](std::uint32_t value) { return faultName(static_cast<Fault>(value)); });
}

}  // namespace queuepair::binding
