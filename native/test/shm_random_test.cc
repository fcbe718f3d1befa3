// Random traffic in both directions against a model: a queue of what each message must hold.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <deque>

#include "test/check.h"
#include "test/shm_fixture.h"

using namespace shmtest;

namespace {

constexpr std::size_t kMemory = 400'000;

struct Message {
  std::vector<std::byte> bytes;
  std::uint32_t immediate = 0;
  bool withImmediate = false;
};

/// One direction: a sender, a receiver, and what is on the way.
class Flow {
 public:
  Flow(Random& random, Host& from, QueuePair& sender, Host& to, QueuePair& receiver,
       std::uint32_t depth)
      : random_(random), from_(from), sender_(sender), to_(to), receiver_(receiver), depth_(depth) {
    for (const Memory& memory : sources_) memory.fill(random.next());
  }

  void act() {
    if (random_.below(3) == 0) postSends();
    if (random_.below(3) == 0) postReceives();
    check();
  }
  void finish() {
    sending_ = false;
    if (receivesPosted_ - receivesDone_ < sendsPosted_ - receivesDone_) postReceives();
    check();
  }
  [[nodiscard]] bool done() const {
    return sendsDone_ == sendsPosted_ && receivesDone_ == sendsPosted_;
  }
  [[nodiscard]] std::uint64_t delivered() const { return receivesDone_; }

 private:
  std::size_t pickLength() {
    static constexpr std::size_t kLimits[] = {8, 96, 200, 5'000, 16'384, 70'000, kMemory};
    const std::size_t most = kLimits[random_.below(std::size(kLimits))];
    return random_.below(4) == 0 ? most - random_.below(3) : random_.below(most + 1);
  }

  std::vector<Segment> cut(const Memory& memory, std::size_t length) {
    std::vector<Segment> segments;
    std::size_t start = random_.below(memory.bytes().size() - length + 1);
    const std::size_t count = length == 0 ? random_.below(3) : 1 + random_.below(kMaxSegments);
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t part = i + 1 == count ? length : random_.below(length + 1);
      segments.push_back(memory.segment(start, part));
      start += part;
      length -= part;
    }
    return segments;
  }

  void postSends() {
    while (sending_ && sendsPosted_ - sendsDone_ < depth_ && random_.below(4) != 0) {
      const Memory& memory = sources_[random_.below(sources_.size())];
      WorkRequest send = request(Opcode::kSend, sendsPosted_, cut(memory, pickLength()));
      Message message;
      for (std::size_t i = 0; i < send.segmentCount; ++i) {
        const Segment& segment = send.segments[i];
        message.bytes.insert(message.bytes.end(), segment.address,
                             segment.address + segment.length);
      }
      if (random_.below(2) == 0) {
        send.flags |= kImmediate;
        send.immediate = static_cast<std::uint32_t>(random_.next());
        message.withImmediate = true;
        message.immediate = send.immediate;
      }
      CHECK(sender_.postSend(send) == PostResult::kPosted);
      expected_.push_back(std::move(message));
      ++sendsPosted_;
    }
    if (random_.below(5) != 0) sender_.ringDoorbell();
  }

  void postReceives() {
    while (receivesPosted_ - receivesDone_ < depth_ && random_.below(4) != 0) {
      Memory memory = Memory::plain(kMemory);
      std::vector<Segment> segments = cut(memory, kMemory);
      CHECK(receiver_.postReceive(request(Opcode::kReceive, receivesPosted_, segments)) ==
            PostResult::kPosted);
      targets_.push_back(std::move(memory));
      ++receivesPosted_;
    }
    receiver_.ringDoorbell();
  }

  void check() {
    for (const WorkCompletion& completion : from_.completions) {
      if (completion.opcode != Opcode::kSend) continue;
      CHECK_EQ(completion.id, sendsDone_);
      CHECK_EQ(completion.status, Status::kSuccess);
      ++sendsDone_;
    }
    std::erase_if(from_.completions, [](const auto& c) { return c.opcode == Opcode::kSend; });
    for (const WorkCompletion& completion : to_.completions) {
      if (completion.opcode == Opcode::kReceive) checkReceive(completion);
    }
    std::erase_if(to_.completions, [](const auto& c) { return c.opcode == Opcode::kReceive; });
  }

  void checkReceive(const WorkCompletion& completion) {
    REQUIRE(!expected_.empty() && !targets_.empty());
    const Message& message = expected_.front();
    CHECK_EQ(completion.id, receivesDone_);
    CHECK_EQ(completion.status, Status::kSuccess);
    CHECK_EQ(completion.byteLength, message.bytes.size());
    CHECK_EQ((completion.flags & kImmediate) != 0, message.withImmediate);
    CHECK_EQ(completion.immediate, message.immediate);
    const Memory& target = targets_.front();
    CHECK(std::equal(message.bytes.begin(), message.bytes.end(), target.bytes().begin()));
    const auto rest = target.bytes().subspan(message.bytes.size());
    CHECK(std::all_of(rest.begin(), rest.end(), [](std::byte b) { return b == std::byte{0}; }));
    CHECK(target.guardsIntact());
    expected_.pop_front();
    targets_.pop_front();
    ++receivesDone_;
  }

  Random& random_;
  Host& from_;
  QueuePair& sender_;
  Host& to_;
  QueuePair& receiver_;
  std::uint32_t depth_;
  std::array<Memory, 3> sources_{Memory::engine(kMemory), Memory::engine(kMemory),
                                 Memory::plain(kMemory)};
  std::deque<Memory> targets_;
  std::deque<Message> expected_;
  std::uint64_t sendsPosted_ = 0;
  std::uint64_t sendsDone_ = 0;
  std::uint64_t receivesPosted_ = 0;
  std::uint64_t receivesDone_ = 0;
  bool sending_ = true;
};

std::uint64_t run(std::uint64_t seed) {
  Random random(seed);
  const auto depth = static_cast<std::uint32_t>(1 + random.below(40));
  Pair pair(depth);
  if (!pair.connect()) return 0;
  Flow there(random, pair.a, *pair.qpA, pair.b, *pair.qpB, depth);
  Flow back(random, pair.b, *pair.qpB, pair.a, *pair.qpA, depth);
  for (int i = 0; i < 200; ++i) {
    there.act();
    back.act();
    if (random.below(2) == 0) pair.a.step();
    if (random.below(2) == 0) pair.b.step();
  }
  const bool finished = pair.drive([&] {
    there.finish();
    back.finish();
    return there.done() && back.done();
  });
  CHECK(finished);
  if (!finished) std::fprintf(stderr, "seed %llu\n", static_cast<unsigned long long>(seed));
  return there.delivered() + back.delivered();
}

}  // namespace

TEST(delivers_random_traffic_as_the_model_says) {
  const char* first = std::getenv("SHM_SEED");
  const std::uint64_t start = first != nullptr ? std::strtoull(first, nullptr, 10) : 1;
  std::uint64_t delivered = 0;
  for (std::uint64_t seed = start; seed < start + 12; ++seed) {
    const std::uint64_t count = run(seed);
    CHECK(count > 0);
    delivered += count;
  }
  CHECK(delivered > 500);
}
