// Control requests and the provider's notices: every call done, pending and failed, and the order
// of an end: its completions, then its event.
#include "test/check.h"
#include "test/lane_fixture.h"

using namespace queuepair;
using namespace queuepair::test;

namespace {

const Failure kLost{.fault = Fault::kPeerLost, .detail = "scripted"};

Handle listening(LaneFixture& f) {
  const Handle listener = f.lane->createListener();
  f.control(ControlKind::kListen, listener);
  f.settle();
  f.events();
  return listener;
}

// The connection of a request that just came in.
Handle requested(LaneFixture& f) {
  f.request(*f.script.listeners.back());
  const std::vector<Event> events = f.events();
  return events.empty() ? Handle{} : events.back().object;
}

}  // namespace

TEST(listenAndClose) {
  LaneFixture f;
  const Handle listener = f.lane->createListener();
  f.control(ControlKind::kListen, listener);
  f.settle();
  std::vector<Event> events = f.events();
  CHECK_EQ(kindsOf(events), "listening");
  CHECK(!events[0].failure.failed());
  CHECK_EQ(events[0].localAddress.port, 9);
  f.control(ControlKind::kListen, listener);
  f.control(ControlKind::kCloseListener, listener);
  f.control(ControlKind::kListen, listener);
  f.settle();
  events = f.events();
  CHECK_EQ(kindsOf(events), "listening listener-closed listening");
  CHECK(events[0].failure.fault == Fault::kInvalidState);
  CHECK(events[2].failure.fault == Fault::kInvalidState);
  CHECK(f.script.listeners.empty());
}

TEST(listenFails) {
  LaneFixture f;
  f.script.listenFails = true;
  const Handle listener = f.lane->createListener();
  f.control(ControlKind::kListen, listener);
  f.control(ControlKind::kCloseListener, listener);
  f.settle();
  const std::vector<Event> events = f.events();
  CHECK_EQ(kindsOf(events), "listening listener-closed");
  CHECK(events[0].failure.fault == Fault::kOutOfResources);
}

TEST(connectFailsAtOnce) {
  LaneFixture f;
  f.script.connect = ControlResult::failed({.fault = Fault::kUnreachable, .osError = 111});
  const Handle connection = f.lane->createConnection();
  f.submit(Opcode::kReceive, connection);
  f.control(ControlKind::kConnect, connection);
  f.settle();
  CHECK_EQ(f.completions(), "0:flushed");
  const std::vector<Event> events = f.events();
  CHECK_EQ(kindsOf(events), "disconnected");
  CHECK(events[0].failure.fault == Fault::kUnreachable);
  CHECK_EQ(events[0].failure.osError, 111);
  CHECK_EQ(f.script.reservedSlots, 0);
}

TEST(connectFailsForWantOfAnything) {
  for (int which = 0; which < 3; ++which) {
    LaneFixture f;
    (which == 0 ? f.script.connectorFails : f.script.pairFails) = true;
    if (which == 2) f.script.pairFails = f.script.queueGrows = false;
    const Handle connection = f.lane->createConnection();
    f.submit(Opcode::kSend, connection);
    f.control(ControlKind::kConnect, connection);
    f.settle();
    CHECK_EQ(f.completions(), "0:flushed");
    const std::vector<Event> events = f.events();
    CHECK_EQ(kindsOf(events), "disconnected");
    CHECK(events[0].failure.fault == Fault::kOutOfResources);
    CHECK_EQ(f.script.reservedSlots, 0);
  }
}

TEST(connectIsRejectedWithPrivateData) {
  LaneFixture f;
  const Handle connection = f.lane->createConnection();
  f.control(ControlKind::kConnect, connection);
  f.step();
  f.notice([&](AdapterEvents& to) {
    to.onDisconnected(*f.script.connectors[0], {.fault = Fault::kRejected});
  });
  f.settle();
  const std::vector<Event> events = f.events();
  CHECK_EQ(kindsOf(events), "disconnected");
  CHECK_EQ(events[0].privateData.size(), 2U);
}

TEST(theEndComesAfterEverySuccessAndEveryFlush) {
  LaneFixture f;
  const Handle connection = f.establish();
  for (int count = 0; count < 6; ++count) f.submit(Opcode::kSend, connection);  // depth 4: two wait
  f.submit(Opcode::kReceive, connection);
  f.settle();
  FakeQueuePair* pair = f.script.pairs[0];
  f.script.flushesAtOnce = false;
  f.notice([&](AdapterEvents& to) {
    pair->complete(pair->sends);
    to.onDisconnected(*f.script.connectors[0], kLost);
    to.onDisconnected(*f.script.connectors[0], kLost);  // twice must not matter
  });
  f.settle();
  CHECK_EQ(f.completions(), "0:success");
  CHECK_EQ(kindsOf(f.events()), "");
  CHECK_EQ(f.script.count("fail"), 1U);
  pair->flushAll();
  f.step();
  CHECK_EQ(f.completions(), "1:flushed 2:flushed 3:flushed 6:flushed 4:flushed 5:flushed");
  const std::vector<Event> events = f.events();
  CHECK_EQ(kindsOf(events), "disconnected");
  CHECK(events[0].failure.fault == Fault::kPeerLost);
  CHECK(f.script.pairs.empty() && f.script.connectors.empty());
  CHECK_EQ(f.script.reservedSlots, 0);
}

TEST(workAfterTheEndIsFlushed) {
  LaneFixture f;
  const Handle connection = f.establish();
  f.notice([&](AdapterEvents& to) { to.onDisconnected(*f.script.connectors[0], kLost); });
  f.submit(Opcode::kSend, connection);
  f.settle();
  f.submit(Opcode::kSend, connection);
  f.settle();
  CHECK_EQ(f.completions(), "0:flushed 1:flushed");
  CHECK_EQ(kindsOf(f.events()), "disconnected");
}

TEST(disconnectDonePendingAndFailed) {
  for (int which = 0; which < 3; ++which) {
    LaneFixture f;
    const Handle connection = f.establish();
    if (which == 0) f.script.disconnect = ControlResult::done();
    if (which == 2) f.script.disconnect = ControlResult::failed(kLost);
    f.control(ControlKind::kDisconnect, connection);
    f.control(ControlKind::kDisconnect, connection);
    f.settle();
    CHECK_EQ(f.script.count("disconnect"), 1U);
    if (which == 1) {
      CHECK_EQ(kindsOf(f.events()), "");
      f.notice([&](AdapterEvents& to) {
        to.onDisconnected(*f.script.connectors[0], {.fault = Fault::kClosedLocally});
      });
      f.settle();
    }
    const std::vector<Event> events = f.events();
    CHECK_EQ(kindsOf(events), "disconnected");
    CHECK(events[0].failure.fault == (which == 2 ? Fault::kPeerLost : Fault::kClosedLocally));
  }
}

TEST(disconnectComesAfterTheSendsThatWait) {
  LaneFixture f;
  const Handle connection = f.establish();
  for (int count = 0; count < 5; ++count) f.submit(Opcode::kSend, connection);  // depth 4
  f.control(ControlKind::kDisconnect, connection);
  f.settle();
  CHECK_EQ(f.script.count("disconnect"), 0U);
  FakeQueuePair* pair = f.script.pairs[0];
  pair->complete(pair->sends);
  f.settle();
  CHECK_EQ(f.script.count("send"), 5U);
  CHECK_EQ(f.script.calls.back(), "doorbell");
  CHECK_EQ(f.script.count("disconnect"), 1U);
}

TEST(destroyInEveryState) {
  for (int state = 0; state < 6; ++state) {
    LaneFixture f;
    Handle connection{};
    if (state == 0) connection = f.lane->createConnection();
    if (state == 1) {
      connection = f.lane->createConnection();
      f.control(ControlKind::kConnect, connection);
    }
    if (state == 2 || state == 3 || state == 4) connection = f.establish();
    if (state == 3) f.control(ControlKind::kDisconnect, connection);
    if (state == 4) {
      f.notice([&](AdapterEvents& to) { to.onDisconnected(*f.script.connectors[0], kLost); });
    }
    if (state == 5) {
      listening(f);
      connection = requested(f);
    }
    f.settle();
    f.events();
    f.submit(Opcode::kReceive, connection);
    f.control(ControlKind::kDestroy, connection);
    f.control(ControlKind::kDestroy, connection);
    f.settle();
    CHECK_EQ(f.completions(), "0:flushed");
    CHECK_EQ(kindsOf(f.events()), "destroyed");
    CHECK(f.script.pairs.empty() && f.script.connectors.empty());
    CHECK_EQ(f.script.reservedSlots, 0);
    f.control(ControlKind::kDestroy, connection);
    f.settle();
    CHECK_EQ(kindsOf(f.events()), "");
  }
}

TEST(destroyWaitsForTheLastFlush) {
  LaneFixture f;
  f.script.flushesAtOnce = false;
  const Handle connection = f.establish();
  f.submit(Opcode::kSend, connection);
  f.settle();
  f.control(ControlKind::kDestroy, connection);
  f.settle();
  CHECK_EQ(kindsOf(f.events()), "");
  CHECK_EQ(f.script.pairs.size(), 1U);
  f.script.pairs[0]->flushAll();
  f.settle();
  CHECK_EQ(f.completions(), "0:flushed");
  CHECK_EQ(kindsOf(f.events()), "destroyed");
  const std::vector<std::string>& calls = f.script.calls;
  const auto connector = std::find(calls.begin(), calls.end(), "destroyConnector");
  CHECK(connector < std::find(calls.begin(), calls.end(), "destroyPair"));
}

TEST(acceptAndItsFailure) {
  for (int which = 0; which < 3; ++which) {
    LaneFixture f;
    const Handle listener = listening(f);
    if (which == 0) f.script.accept = ControlResult::done();
    if (which == 2) f.script.accept = ControlResult::failed(kLost);
    f.request(*f.script.listeners[0]);
    std::vector<Event> events = f.events();
    CHECK_EQ(kindsOf(events), "request");
    CHECK_EQ(events[0].listener.slot, listener.slot);
    CHECK_EQ(events[0].listener.generation, listener.generation);
    CHECK_EQ(events[0].peer.processId, 42);
    CHECK_EQ(events[0].privateData.size(), 2U);
    const Handle connection = events[0].object;
    f.submit(Opcode::kReceive, connection);
    f.control(ControlKind::kAccept, connection);
    f.settle();
    CHECK_EQ(f.script.count("receive"), 1U);
    if (which == 1) {
      f.notice([&](AdapterEvents& to) { to.onEstablished(*f.script.connectors[0]); });
      f.settle();
    }
    CHECK_EQ(kindsOf(f.events()), which == 2 ? "disconnected" : "established");
  }
}

TEST(rejectDonePendingAndFailed) {
  for (int which = 0; which < 3; ++which) {
    LaneFixture f;
    listening(f);
    if (which == 1) f.script.reject = ControlResult::pending();
    if (which == 2) f.script.reject = ControlResult::failed(kLost);
    const Handle connection = requested(f);
    f.control(ControlKind::kReject, connection);
    f.settle();
    if (which == 1) {
      CHECK_EQ(kindsOf(f.events()), "");
      f.notice([&](AdapterEvents& to) {
        to.onDisconnected(*f.script.connectors[0], {.fault = Fault::kClosedLocally});
      });
      f.settle();
    }
    CHECK_EQ(kindsOf(f.events()), "destroyed");
    CHECK(f.script.connectors.empty());
  }
}

TEST(aWithdrawnRequestEnds) {
  LaneFixture f;
  listening(f);
  const Handle connection = requested(f);
  f.notice([&](AdapterEvents& to) { to.onDisconnected(*f.script.connectors[0], kLost); });
  f.settle();
  CHECK_EQ(kindsOf(f.events()), "disconnected");
  f.control(ControlKind::kAccept, connection);
  f.settle();
  CHECK_EQ(kindsOf(f.events()), "");
  f.control(ControlKind::kReject, connection);
  f.settle();
  CHECK_EQ(kindsOf(f.events()), "destroyed");
}

TEST(theBacklogBoundsUnansweredRequests) {
  LaneFixture f;
  listening(f);  // backlog 2
  const Handle first = requested(f);
  CHECK(f.admitted);
  const Handle second = requested(f);
  requested(f);
  CHECK(!f.admitted);
  f.control(ControlKind::kAccept, first);
  f.settle();
  requested(f);
  CHECK(f.admitted);
  f.control(ControlKind::kDestroy, second);
  f.settle();
  requested(f);
  CHECK(f.admitted);
  requested(f);
  CHECK(!f.admitted);
}

TEST(requestsOutliveTheirListener) {
  LaneFixture f;
  const Handle listener = listening(f);
  const Handle connection = requested(f);
  f.control(ControlKind::kCloseListener, listener);
  f.settle();
  CHECK_EQ(kindsOf(f.events()), "listener-closed");
  f.script.accept = ControlResult::done();
  f.control(ControlKind::kAccept, connection);
  f.settle();
  CHECK_EQ(kindsOf(f.events()), "established");
}

TEST(flushReceivesLeavesTheSends) {
  LaneFixture f;
  const Handle connection = f.establish();  // depth 4
  for (int count = 0; count < 6; ++count) f.submit(Opcode::kReceive, connection);
  f.submit(Opcode::kSend, connection);
  f.control(ControlKind::kFlushReceives, connection);
  f.settle();
  CHECK_EQ(f.completions(), "0:flushed 1:flushed 2:flushed 3:flushed 4:flushed 5:flushed");
  f.submit(Opcode::kReceive, connection);
  f.submit(Opcode::kSend, connection);
  f.settle();
  CHECK_EQ(f.completions(), "7:flushed");
  CHECK_EQ(f.script.pairs[0]->sends.size(), 2U);
  CHECK_EQ(kindsOf(f.events()), "");
}

TEST(flushReceivesBeforeThePairExists) {
  LaneFixture f;
  const Handle connection = f.lane->createConnection();
  f.submit(Opcode::kReceive, connection);
  f.control(ControlKind::kFlushReceives, connection);
  f.settle();
  CHECK_EQ(f.completions(), "0:flushed");
  f.control(ControlKind::kConnect, connection);
  f.step();
  CHECK_EQ(f.script.count("flushReceives"), 1U);
}

TEST(wrongStatesEndTheConnection) {
  const ControlKind wrong[] = {ControlKind::kConnect, ControlKind::kAccept};
  for (const ControlKind kind : wrong) {
    LaneFixture f;
    const Handle connection = f.establish();
    f.control(kind, connection);
    f.settle();
    const std::vector<Event> events = f.events();
    CHECK_EQ(kindsOf(events), "disconnected");
    CHECK(events[0].failure.fault == Fault::kInvalidState);
    f.control(kind, connection);
    f.settle();
    CHECK_EQ(kindsOf(f.events()), "");
  }
  LaneFixture f;
  const Handle connection = f.establish();
  f.control(ControlKind::kReject, connection);
  f.settle();
  CHECK_EQ(kindsOf(f.events()), "destroyed");
}

TEST(unknownHandlesAreHarmless) {
  LaneFixture f;
  const Handle nobody{12'345, 6};
  for (int kind = 1; kind <= 9; ++kind) f.control(static_cast<ControlKind>(kind), nobody);
  f.control(static_cast<ControlKind>(200), nobody);
  f.control(ControlKind::kConnect, {0xffffffff, 0xffffffff});
  f.settle();
  CHECK_EQ(kindsOf(f.events()),
           "listening listener-closed disconnected disconnected disconnected released "
           "disconnected");
}

TEST(noticesForAConnectorThatIsOverAreIgnored) {
  LaneFixture f;
  f.script.flushesAtOnce = false;
  const Handle connection = f.establish();
  f.submit(Opcode::kSend, connection);
  f.settle();
  f.notice([&](AdapterEvents& to) {
    to.onDisconnected(*f.script.connectors[0], kLost);
    to.onEstablished(*f.script.connectors[0]);
  });
  f.settle();
  CHECK_EQ(kindsOf(f.events()), "");
  f.script.pairs[0]->flushAll();
  f.settle();
  CHECK_EQ(kindsOf(f.events()), "disconnected");
}
