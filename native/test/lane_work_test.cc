// How work goes through a lane: order, "again", refusals, counters, wakes.
#include "test/check.h"
#include "test/lane_fixture.h"

using namespace queuepair;
using namespace queuepair::test;

TEST(sendAndReceiveComplete) {
  LaneFixture f;
  REQUIRE(f.lane != nullptr);
  const Handle region = f.region(4096);
  const Handle connection = f.establish();
  f.submit(Opcode::kReceive, connection, region, 128);
  f.submit(Opcode::kSend, connection, region, 64);
  CHECK(f.step() == Lane::StepResult::kMoved);
  FakeQueuePair* pair = f.script.pairs.back();
  REQUIRE(pair->sends.size() == 1 && pair->receives.size() == 1);
  CHECK(pair->sends[0].segments[0].address == f.buffers[0].get());
  CHECK_EQ(f.script.count("doorbell"), 1U);
  pair->complete(pair->sends);
  pair->complete(pair->receives);
  f.settle();
  CHECK_EQ(f.completions(), "1:success 0:success");
  CHECK_EQ(f.owner.counter(layout::kPostsSend), 1U);
  CHECK_EQ(f.owner.counter(layout::kPostsReceive), 1U);
  CHECK_EQ(f.owner.counter(layout::kBytesSent), 64U);
  CHECK_EQ(f.owner.counter(layout::kBytesReceived), 128U);
  CHECK(f.step() == Lane::StepResult::kIdle);
}

TEST(receivesWaitForThePairAndSendsForTheConnection) {
  LaneFixture f;
  const Handle region = f.region(64);
  const Handle connection = f.lane->createConnection();
  f.submit(Opcode::kReceive, connection, region, 8);
  f.submit(Opcode::kSend, connection, region, 8);
  f.settle();
  CHECK(f.script.calls.empty());
  f.submit(Opcode::kReceive, connection, region, 8);
  f.control(ControlKind::kConnect, connection);
  f.step();
  CHECK((f.script.calls == std::vector<std::string>{"receive", "receive", "doorbell", "connect"}));
  f.notice([&](AdapterEvents& to) { to.onEstablished(*f.script.connectors[0]); });
  f.settle();
  CHECK_EQ(f.script.count("send"), 1U);
  CHECK_EQ(f.script.calls.back(), "doorbell");
}

TEST(anEstablishedAtOnceIsOneEvent) {
  LaneFixture f;
  f.script.connect = ControlResult::done();
  const Handle connection = f.lane->createConnection();
  f.control(ControlKind::kConnect, connection);
  f.settle();
  const std::vector<Event> events = f.events();
  CHECK_EQ(kindsOf(events), "established");
  CHECK_EQ(events[0].peer.address.host, "127.0.0.2");
  CHECK_EQ(events[0].localAddress.port, 8);
  CHECK_EQ(events[0].privateData.size(), 2U);
  CHECK_EQ(f.owner.header().load(layout::kEventsPostedAt), 1U);
}

TEST(againKeepsTheOrderAndHoldsUpNobodyElse) {
  LaneFixture f;
  const Handle first = f.establish();
  const Handle second = f.establish();
  f.script.post = PostResult::kAgain;
  f.submit(Opcode::kSend, first);
  f.submit(Opcode::kSend, first);
  f.settle();
  f.script.post = PostResult::kPosted;
  f.submit(Opcode::kSend, first);
  f.submit(Opcode::kSend, second);
  f.settle();
  const FakeQueuePair* pair = f.script.pairs[0];
  REQUIRE(pair->sends.size() == 3);
  for (std::size_t index = 0; index < 3; ++index) CHECK_EQ(pair->sends[index].id & 0xff, index);
  CHECK_EQ(f.script.pairs[1]->sends.size(), 1U);
  CHECK(f.owner.counter(layout::kPostAgain) >= 1);
}

TEST(anInjectedAgainIsRetried) {
  LaneFixture f;
  const Handle connection = f.establish();
  f.lane->faults().arm(FaultPoint::kPostAgain, 0, 3, 0);
  f.submit(Opcode::kSend, connection);
  for (int count = 0; count < 5; ++count) f.step();
  CHECK_EQ(f.script.pairs[0]->sends.size(), 1U);
  CHECK_EQ(f.owner.counter(layout::kPostAgain), 3U);
}

TEST(neverMoreThanTheDepthIsPosted) {
  LaneFixture f;
  const Handle connection = f.establish();  // depth 4
  for (int count = 0; count < 10; ++count) f.submit(Opcode::kSend, connection);
  f.settle();
  FakeQueuePair* pair = f.script.pairs[0];
  CHECK_EQ(pair->sends.size(), 4U);
  pair->complete(pair->sends);
  f.settle();
  CHECK_EQ(pair->sends.size(), 4U);
  CHECK_EQ(f.completions(), "0:success");
  while (!pair->sends.empty()) {
    pair->complete(pair->sends);
    f.settle();
  }
  CHECK_EQ(f.owner.takeAll().size(), 9U);
}

TEST(aRefusedPostIsFlushedAfterWhatWasPosted) {
  LaneFixture f;
  const Handle connection = f.establish();
  f.submit(Opcode::kSend, connection);
  f.settle();
  f.script.post = PostResult::kRefused;
  f.submit(Opcode::kSend, connection);
  f.settle();
  CHECK_EQ(f.completions(), "");
  FakeQueuePair* pair = f.script.pairs[0];
  pair->complete(pair->sends);
  f.settle();
  CHECK_EQ(f.completions(), "0:success 1:flushed");
}

TEST(malformedRecordsAreRefusedAndEndTheConnection) {
  struct Case {
    const char* name;
    Status status;
    void (*damage)(SubmissionRecord&, FakeScript&);
  };
  const Case cases[] = {
      {"opcode", Status::kLocalQueuePairOperation,
       [](SubmissionRecord& r, FakeScript&) { r.opcode = 99; }},
      {"lane", Status::kLocalQueuePairOperation,
       [](SubmissionRecord& r, FakeScript&) { r.lane = 3; }},
      {"op slot", Status::kLocalQueuePairOperation,
       [](SubmissionRecord& r, FakeScript&) { r.operationSlot = 256; }},
      {"segments", Status::kLocalLength,
       [](SubmissionRecord& r, FakeScript&) { r.segmentCount = 5; }},
      {"region", Status::kLocalProtection,
       [](SubmissionRecord& r, FakeScript&) { r.segments[0].region.generation = 77; }},
      {"length", Status::kLocalLength,
       [](SubmissionRecord& r, FakeScript&) { r.segments[0].length = 4097; }},
      {"offset", Status::kLocalLength,
       [](SubmissionRecord& r, FakeScript&) { r.segments[0].offset = ~0ULL; }},
      {"message", Status::kLocalLength,
       [](SubmissionRecord&, FakeScript& s) { s.limits.maxMessageBytes = 8; }},
      {"read", Status::kLocalQueuePairOperation,
       [](SubmissionRecord& r, FakeScript& s) {
         r.opcode = static_cast<std::uint8_t>(Opcode::kRead);
         s.capabilities.read = false;
       }},
      {"immediate", Status::kLocalQueuePairOperation,
       [](SubmissionRecord& r, FakeScript& s) {
         r.flags |= kImmediate;
         s.capabilities.immediate = false;
       }},
      {"atomic length", Status::kLocalLength,
       [](SubmissionRecord& r, FakeScript&) {
         r.opcode = static_cast<std::uint8_t>(Opcode::kFetchAdd);
       }},
      {"flush length", Status::kLocalLength,
       [](SubmissionRecord& r, FakeScript&) {
         r.opcode = static_cast<std::uint8_t>(Opcode::kFlush);
       }},
  };
  for (const Case& one : cases) {
    LaneFixture f;
    SubmissionRecord scratch;
    one.damage(scratch, f.script);  // what belongs to the provider, before the lane is opened again
    f.lane = Lane::open(f.provider, f.owner.memory(), f.waker, f.failure);
    const Handle region = f.region(4096);
    const Handle connection = f.establish();
    SubmissionRecord record = f.record(Opcode::kSend, connection, region, 64);
    one.damage(record, f.script);
    f.owner.submit(record);
    f.settle();
    const std::vector<CompletionRecord> done = f.owner.takeAll();
    const bool single = CHECK_EQ(done.size(), 1U);
    if (!single || !CHECK_EQ(done[0].status, static_cast<std::uint8_t>(one.status))) {
      std::fprintf(stderr, "  in case %s\n", one.name);
    }
    CHECK_EQ(f.owner.counter(layout::kRecordsRefused), 1U);
    const std::vector<Event> events = f.events();
    CHECK_EQ(kindsOf(events), "disconnected");
    CHECK(events[0].failure.fault == Fault::kOperationFailed);
    CHECK(events[0].failure.status == one.status);
  }
}

TEST(anActiveOpSlotIsRefused) {
  LaneFixture f;
  const Handle connection = f.establish();
  const SubmissionRecord record = f.record(Opcode::kSend, connection);
  f.owner.submit(record);
  f.owner.submit(record);
  f.settle();
  CHECK_EQ(f.completions(), "0:local-queue-pair-operation 0:flushed");
  CHECK_EQ(kindsOf(f.events()), "disconnected");
}

TEST(workOnNoConnectionIsFlushed) {
  LaneFixture f;
  f.submit(Opcode::kSend, {5, 5});
  f.settle();
  CHECK_EQ(f.completions(), "0:flushed");
  CHECK_EQ(f.owner.counter(layout::kRecordsRefused), 1U);
}

TEST(aStrayCompletionIsIgnored) {
  LaneFixture f;
  f.establish();
  for (const std::uint64_t id : {operationId(3, 9), operationId(UINT32_MAX, UINT32_MAX)}) {
    WorkCompletion stray{};
    stray.id = id;
    f.script.queue.push_back(stray);
  }
  f.settle();
  CHECK_EQ(f.completions(), "");
  CHECK_EQ(f.lane->unknownCompletions(), 2U);
}

TEST(anImpossibleTailEndsEveryConnection) {
  LaneFixture f;
  const Handle connection = f.establish();
  f.submit(Opcode::kSend, connection);
  f.settle();
  f.owner.header().store(layout::kSubmissionTailAt, 1'000'000);
  f.settle();
  CHECK_EQ(f.completions(), "0:flushed");
  const std::vector<Event> events = f.events();
  CHECK_EQ(kindsOf(events), "disconnected");
  CHECK(events[0].failure.fault == Fault::kInternal);
  f.control(ControlKind::kDestroy, connection);
  f.settle();
  CHECK_EQ(kindsOf(f.events()), "destroyed");
}

TEST(aFullCompletionRingEndsEveryConnection) {
  LaneFixture f({.submissionCapacity = 64, .completionCapacity = 4});
  f.script.completesAtOnce = true;
  const Handle connection = f.establish();
  for (int count = 0; count < 10; ++count) {
    f.nextSlot = 0;  // the owner reuses a slot whose record it has not taken
    f.submit(Opcode::kSend, connection);
    f.settle();
  }
  CHECK_EQ(f.owner.takeAll().size(), 4U);
  const std::vector<Event> events = f.events();
  CHECK_EQ(kindsOf(events), "disconnected");
  CHECK(events[0].failure.fault == Fault::kInternal);
}

TEST(injectedStatusEndsTheConnection) {
  LaneFixture f;
  const Handle connection = f.establish();
  const auto status = static_cast<std::uint64_t>(Status::kRetryExceeded);
  f.lane->faults().arm(FaultPoint::kCompletionStatus, 1, 1, status);
  for (int count = 0; count < 3; ++count) f.submit(Opcode::kSend, connection);
  f.settle();
  FakeQueuePair* pair = f.script.pairs[0];
  pair->complete(pair->sends);
  pair->complete(pair->sends);
  f.settle();
  CHECK_EQ(f.completions(), "0:success 1:retry-exceeded 2:flushed");
  CHECK(f.events()[0].failure.status == Status::kRetryExceeded);
}

TEST(aFlushThatNobodyAskedForEndsTheConnection) {
  LaneFixture f;
  const Handle connection = f.establish();
  const auto status = static_cast<std::uint64_t>(Status::kFlushed);
  f.lane->faults().arm(FaultPoint::kCompletionStatus, 0, 1, status);
  for (int count = 0; count < 2; ++count) f.submit(Opcode::kSend, connection);
  f.settle();
  FakeQueuePair* pair = f.script.pairs[0];
  pair->complete(pair->sends);
  f.settle();
  CHECK_EQ(f.completions(), "0:flushed 1:flushed");
  const Failure failure = f.events()[0].failure;
  CHECK(failure.fault == Fault::kOperationFailed);
  CHECK(failure.status == Status::kFlushed);
}

TEST(injectedDelayKeepsTheOrder) {
  LaneFixture f;
  f.script.completesAtOnce = true;
  const Handle connection = f.establish();
  f.lane->faults().arm(FaultPoint::kCompletionDelay, 0, 1, 3);
  f.submit(Opcode::kSend, connection);
  f.submit(Opcode::kSend, connection);
  for (int count = 0; count < 3; ++count) {
    f.step();
    CHECK_EQ(f.completions(), "");
    CHECK(!f.lane->prepareToPark());
  }
  f.step();
  CHECK_EQ(f.completions(), "0:success 1:success");
}

TEST(theOwnerIsWokenOncePerArming) {
  LaneFixture f;
  f.script.completesAtOnce = true;
  const Handle connection = f.establish();
  f.owner.arm();
  for (int count = 0; count < 3; ++count) {
    f.submit(Opcode::kSend, connection);
    f.settle();
  }
  CHECK_EQ(f.waker.wakes.load(), 1);
  f.owner.disarm();
  f.submit(Opcode::kSend, connection);
  f.settle();
  CHECK_EQ(f.waker.wakes.load(), 1);
  f.owner.arm();
  f.submit(Opcode::kSend, connection);
  f.settle();
  CHECK_EQ(f.waker.wakes.load(), 2);
  CHECK_EQ(f.owner.counter(layout::kOwnerWakes), 2U);
}

TEST(theOwnerIsWokenForSpace) {
  LaneFixture f;
  const Handle connection = f.establish();
  f.owner.header().store(layout::kOwnerWantsSpaceAt, 1);
  f.submit(Opcode::kSend, connection);
  f.settle();
  CHECK_EQ(f.waker.wakes.load(), 0);  // it is not armed
  f.owner.arm();
  f.step();
  CHECK_EQ(f.waker.wakes.load(), 1);
  f.owner.disarm();
  f.owner.arm();
  f.step();
  CHECK_EQ(f.waker.wakes.load(), 1);  // this wish was served
  f.owner.header().store(layout::kOwnerWantsSpaceAt, 3);
  f.step();
  CHECK_EQ(f.waker.wakes.load(), 2);
}

TEST(aBatchIsOneDoorbell) {
  LaneFixture f;
  const Handle connection = f.establish();
  for (int count = 0; count < 4; ++count) f.owner.write(f.record(Opcode::kSend, connection));
  f.owner.publish();
  f.settle();
  CHECK_EQ(f.script.count("send"), 4U);
  CHECK_EQ(f.script.count("doorbell"), 1U);
}
