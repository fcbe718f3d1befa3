// The control path between JavaScript and the lane: requests go down and events come up through two
// locked queues of native structs. Nothing here is per operation. Both queues are bounded by what
// exists: at most one open request per object, a few events per object's life.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/object_table.h"
#include "core/provider.h"
#include "core/status.h"

namespace queuepair {

enum class ControlKind : std::uint8_t {
  kListen = 1,         // listener; address, backlog      → kListening
  kCloseListener = 2,  // listener                        → kListenerClosed
  kConnect = 3,        // connection; address, depths     → kEstablished | kDisconnected
  kAccept = 4,         // connection; depths              → kEstablished | kDisconnected
  kReject = 5,         // connection                      → kDestroyed
  kDisconnect = 6,     // connection, in order            → kDisconnected
  kDestroy = 7,        // connection, whatever its state  → kDestroyed, after its last completion
  kFlushReceives = 8,  // connection: its posted receives complete with kFlushed; no event
  kReleaseRegion = 9,  // region                          → kRegionReleased, once nothing names it
};

struct ControlRequest {
  ControlKind kind = ControlKind::kDestroy;
  Handle object{};
  Address address{};
  std::uint32_t backlog = 0;
  std::uint32_t sendDepth = 0;
  std::uint32_t receiveDepth = 0;
  std::vector<std::byte> privateData{};
};

enum class EventKind : std::uint8_t {
  kListening = 1,          // object: listener; failure, or localAddress
  kListenerClosed = 2,     // object: listener, which no longer exists
  kConnectionRequest = 3,  // object: the new connection; listener, peer, localAddress, privateData
  kEstablished = 4,        // object: connection; peer, localAddress, privateData
  kDisconnected = 5,       // object: connection, all completions published; failure, privateData
  kDestroyed = 6,          // object: connection, which no longer exists
  kRegionReleased = 7,     // object: region, which no longer exists
};

struct Event {
  EventKind kind = EventKind::kDestroyed;
  Handle object{};
  Handle listener{};
  Failure failure{};
  Peer peer{};
  Address localAddress{};
  std::vector<std::byte> privateData{};
};

}  // namespace queuepair
