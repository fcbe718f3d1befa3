#include "test/shm_fixture.h"

#include <dirent.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <fstream>
#include <utility>

#include "core/os/sealed_memory.h"
#include "core/providers/shm/provider.h"
#include "test/check.h"

namespace shmtest {
namespace {

constexpr std::size_t kGuard = 64;
constexpr std::byte kGuardByte{0xA5};

}  // namespace

void Recorder::forget(const Connector& connector) {
  std::erase(established, &connector);
  std::erase_if(disconnected, [&](const End& end) { return end.connector == &connector; });
}

bool Recorder::isEstablished(const Connector& connector) const {
  return std::find(established.begin(), established.end(), &connector) != established.end();
}

Fault Recorder::endOf(const Connector& connector) const {
  for (const End& end : disconnected) {
    if (end.connector == &connector) return end.why.fault;
  }
  return Fault::kNone;
}

std::size_t Recorder::endsOf(const Connector& connector) const {
  return static_cast<std::size_t>(
      std::count_if(disconnected.begin(), disconnected.end(),
                    [&](const End& end) { return end.connector == &connector; }));
}

Host::Host() {
  static shm::SharedMemoryProvider provider;
  Failure failure;
  adapter = provider.openAdapter(waitSet, events, faults, failure);
  queue = adapter->createCompletionQueue(16, failure);
}

bool Host::step() {
  waitSet.wait(0);
  waitSet.dispatch();
  const bool moved = adapter->progress(now);
  collect();
  return moved;
}

void Host::collect() {
  std::array<WorkCompletion, 16> batch{};
  for (std::size_t count = 0; (count = queue->poll(batch)) > 0;) {
    completions.insert(completions.end(), batch.begin(), batch.begin() + static_cast<long>(count));
  }
}

Memory Memory::engine(std::size_t byteLength) {
  Memory memory;
  const std::size_t page = os::pageBytes();
  memory.reservedBytes_ = std::max(page, (byteLength + page - 1) / page * page);
  void* at = mmap(nullptr, memory.reservedBytes_, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  memory.reserved_ = static_cast<std::byte*>(at);
  os::FileDescriptor fd = os::createMemory("queuepair-test", memory.reservedBytes_);
  os::mapMemory(fd.get(), memory.reservedBytes_, true, memory.reserved_);
  os::sealMemory(fd.get(), true);
  memory.region_ = std::make_unique<Region>(memory.reserved_, byteLength, memory.reservedBytes_,
                                            kLocalOnly, std::move(fd));
  return memory;
}

Memory Memory::plain(std::size_t byteLength) {
  Memory memory;
  memory.heap_ = std::make_unique<std::byte[]>(byteLength + 2 * kGuard);
  std::memset(memory.heap_.get(), static_cast<int>(kGuardByte), byteLength + 2 * kGuard);
  memory.region_ = std::make_unique<Region>(memory.heap_.get() + kGuard, byteLength, kLocalOnly);
  memory.clear();
  return memory;
}

Memory::Memory(Memory&& other) noexcept
    : heap_(std::move(other.heap_)),
      region_(std::move(other.region_)),
      reserved_(std::exchange(other.reserved_, nullptr)),
      reservedBytes_(other.reservedBytes_) {}

Memory::~Memory() {
  region_.reset();
  if (reserved_ != nullptr) munmap(reserved_, reservedBytes_);
}

Segment Memory::segment(std::size_t offset, std::size_t length) const {
  return {.region = region_.get(),
          .address = region_->data() + offset,
          .offset = offset,
          .length = length};
}

bool Memory::guardsIntact() const {
  if (heap_ == nullptr) return true;
  const auto isGuard = [](std::byte value) { return value == kGuardByte; };
  const std::byte* end = heap_.get() + kGuard + region_->byteLength();
  return std::all_of(heap_.get(), heap_.get() + kGuard, isGuard) &&
         std::all_of(end, end + kGuard, isGuard);
}

void Memory::fill(std::uint64_t seed) const {
  Random random(seed);
  for (std::byte& byte : bytes()) byte = static_cast<std::byte>(random.next());
}

void Memory::clear() const { std::fill(bytes().begin(), bytes().end(), std::byte{0}); }

WorkRequest request(Opcode opcode, std::uint64_t id, std::initializer_list<Segment> segments) {
  return request(opcode, id, std::span(segments.begin(), segments.size()));
}

WorkRequest request(Opcode opcode, std::uint64_t id, std::span<const Segment> segments) {
  WorkRequest made{};
  made.id = id;
  made.opcode = opcode;
  made.flags = kSignaled;
  for (const Segment& segment : segments) {
    made.segments[made.segmentCount++] = segment;
    made.byteLength += segment.length;
  }
  return made;
}

Endpoint::Endpoint(Host& on, std::unique_ptr<Connector> request, std::uint32_t depth)
    : host(on), connector(std::move(request)) {
  Failure failure;
  host.queue->reserve(2 * depth);
  pair = host.adapter->createQueuePair(
      *host.queue, {.sendDepth = depth, .receiveDepth = depth, .context = this}, failure);
  if (connector == nullptr) connector = host.adapter->createConnector(failure);
  host.events.forget(*connector);
}

std::unique_ptr<Listener> listenAnywhere(Host& host) {
  Failure failure;
  return host.adapter->listen({.host = "127.0.0.1", .port = 0}, 128, failure);
}

Pair::Pair(std::uint32_t depthAsked) : depth(depthAsked) {}

// Connectors before queue pairs, as the lane does.
Pair::~Pair() {
  connA.reset();
  connB.reset();
}

bool Pair::connect() {
  Failure failure;
  listener = b.adapter->listen({.host = "127.0.0.1", .port = 0}, 8, failure);
  if (listener == nullptr) return false;
  const QueuePairOptions options{.sendDepth = depth, .receiveDepth = depth, .context = this};
  a.queue->reserve(2 * depth);
  b.queue->reserve(2 * depth);
  qpA = a.adapter->createQueuePair(*a.queue, options, failure);
  qpB = b.adapter->createQueuePair(*b.queue, options, failure);
  connA = a.adapter->createConnector(failure);
  const ControlResult result = connA->connect(*qpA, listener->localAddress(), {});
  if (result.kind != ControlResult::Kind::kPending) return false;
  if (!drive([&] { return !b.events.requests.empty(); }, 100)) return false;
  connB = std::move(b.events.requests.front());
  b.events.requests.clear();
  if (connB->accept(*qpB, {}).kind != ControlResult::Kind::kPending) return false;
  return drive([&] { return a.events.isEstablished(*connA) && b.events.isEstablished(*connB); },
               100);
}

bool Pair::step() {
  const bool movedA = a.step();
  const bool movedB = b.step();
  return movedA || movedB;
}

void Pair::settle() {
  for (int quiet = 0; quiet < 3;) quiet = step() ? 0 : quiet + 1;
}

std::size_t mappingsOf(const std::string& name) {
  std::ifstream maps("/proc/self/maps");
  std::size_t count = 0;
  for (std::string line; std::getline(maps, line);) {
    if (line.find("memfd:" + name) != std::string::npos) ++count;
  }
  return count;
}

std::size_t openDescriptors() {
  std::size_t count = 0;
  DIR* directory = opendir("/proc/self/fd");
  while (readdir(directory) != nullptr) ++count;
  closedir(directory);
  return count;
}

const WorkCompletion* find(const Host& host, std::uint64_t id) {
  for (const WorkCompletion& completion : host.completions) {
    if (completion.id == id) return &completion;
  }
  return nullptr;
}

std::vector<std::byte> bytesOf(const std::string& text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

std::string textOf(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::uint64_t Random::next() {
  state_ ^= state_ << 13U;
  state_ ^= state_ >> 7U;
  state_ ^= state_ << 17U;
  return state_;
}

}  // namespace shmtest
