// What happened to a work request, and why a control call failed. The numbers cross into
// JavaScript: src/engine/status.ts mirrors them, and a test compares the two.
#pragma once

#include <cstdint>
#include <string>

namespace queuepair {

// The completion statuses of libibverbs, in its order, so that `verbs` maps by value.
enum class Status : std::uint8_t {
  kSuccess = 0,
  kLocalLength = 1,
  kLocalQueuePairOperation = 2,
  kLocalEndToEndContext = 3,
  kLocalProtection = 4,
  kFlushed = 5,
  kMemoryWindowBind = 6,
  kBadResponse = 7,
  kLocalAccess = 8,
  kRemoteInvalidRequest = 9,
  kRemoteAccess = 10,
  kRemoteOperation = 11,
  kRetryExceeded = 12,
  kReceiverNotReadyRetryExceeded = 13,
  kLocalReliableDatagramDomain = 14,
  kRemoteInvalidReliableDatagram = 15,
  kRemoteAbort = 16,
  kInvalidEndToEndContext = 17,
  kInvalidEndToEndContextState = 18,
  kFatal = 19,
  kResponseTimeout = 20,
  kGeneral = 21,
};
inline constexpr std::uint32_t kStatusCount = 22;
const char* statusName(Status status) noexcept;  // "success", "local-length", …

// Why a control call, or a connection, failed. JavaScript makes ERR_RDMA_* of these.
enum class Fault : std::uint8_t {
  kNone = 0,
  kInvalidArgument = 1,
  kInvalidState = 2,
  kAddressInUse = 3,
  kAddressNotLocal = 4,  // cannot listen there, or this provider cannot reach it
  kUnreachable = 5,      // nobody listens there
  kRejected = 6,         // the peer's program said no
  kPeerClosed = 7,       // the peer disconnected in order
  kPeerLost = 8,         // the peer's process or link went away
  kProtocol = 9,         // the peer spoke something else
  kPermission = 10,      // another user's process
  kOutOfResources = 11,  // memory, descriptors, table slots; osError says which
  kUnsupported = 12,
  kOperationFailed = 13,  // a work request failed, which ends its connection
  kClosedLocally = 14,
  kInternal = 15,
  kBacklogFull = 16,  // the listener had too many unanswered requests
};
inline constexpr std::uint32_t kFaultCount = 17;
const char* faultName(Fault fault) noexcept;  // "none", "invalid-argument", …

struct Failure {
  Fault fault = Fault::kNone;
  int osError = 0;                   // errno, or 0
  Status status = Status::kSuccess;  // of the work request, with kOperationFailed
  std::string detail{};              // one clause for the message, may be empty

  [[nodiscard]] bool failed() const noexcept { return fault != Fault::kNone; }
};

}  // namespace queuepair
