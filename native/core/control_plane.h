// Carries out control requests, and takes the provider's notices. Under the token, but for
// createListener().
#pragma once

#include <cstdint>
#include <memory>

#include "core/connection_set.h"
#include "core/control.h"
#include "core/control_queue.h"
#include "core/object_table.h"
#include "core/provider.h"
#include "core/region_release.h"

namespace queuepair {

class ControlPlane final : public AdapterEvents {
 public:
  ControlPlane(ConnectionSet& connections, RegionRelease& releases, EventQueue& events) noexcept
      : connections_(connections), releases_(releases), events_(events) {}

  // Any thread.
  Handle createListener() { return listeners_.insert(std::make_unique<ListenerEntry>()); }

  void attach(Adapter& adapter) noexcept { adapter_ = &adapter; }
  void execute(ControlRequest& request);
  void destroyListeners();

  bool admitsRequest(Listener& listener) override;
  void onConnectionRequest(Listener& listener, std::unique_ptr<Connector> connector) override;
  void onEstablished(Connector& connector) override;
  void onDisconnected(Connector& connector, const Failure& why) override;
  void onDeregistered(Region& region) override;

 private:
  struct ListenerEntry {
    std::uint32_t slot = 0;
    std::uint32_t generation = 0;
    std::uint32_t backlog = 0;
    std::shared_ptr<std::uint32_t> unanswered = std::make_shared<std::uint32_t>(0);
    std::unique_ptr<Listener> listener{};
  };

  void listen(ControlRequest& request);
  void closeListener(Handle handle);
  void executeOnConnection(ControlRequest& request);
  void connect(Connection& connection, ControlRequest& request);
  void accept(Connection& connection, ControlRequest& request);
  void reject(Connection& connection, const ControlRequest& request);
  void settle(Connection& connection, ControlResult result);

  ConnectionSet& connections_;
  RegionRelease& releases_;
  EventQueue& events_;
  Adapter* adapter_ = nullptr;
  ObjectTable<ListenerEntry> listeners_;
};

}  // namespace queuepair
