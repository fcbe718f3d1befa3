// The parts of os/ under the shm provider: sealed memory, sockets with descriptors, local
// addresses.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string>

#include "core/os/local_address.h"
#include "core/os/sealed_memory.h"
#include "core/os/unix_socket.h"
#include "test/check.h"

using namespace queuepair;
using os::AddressKind;
using os::SocketMessage;

namespace {

std::string uniqueName(const char* what) {
  return "queuepair-test/" + std::to_string(getpid()) + "/" + what;
}

struct Ends {
  os::FileDescriptor a;
  os::FileDescriptor b;
};

Ends connectedPair(const char* what) {
  Ends ends;
  const os::FileDescriptor listener = os::listenOnSocket(uniqueName(what), 4);
  ends.a = os::createSocket();
  CHECK_EQ(os::connectSocket(ends.a.get(), uniqueName(what)), 0);
  ends.b = os::acceptSocket(listener.get());
  return ends;
}

bool closesOnExec(int fd) { return (fcntl(fd, F_GETFD) & FD_CLOEXEC) != 0; }

}  // namespace

TEST(sealed_memory_keeps_its_size) {
  const os::FileDescriptor memory = os::createMemory("queuepair-os", 5000);
  REQUIRE(memory.valid());
  CHECK(closesOnExec(memory.get()));
  CHECK_EQ(ftruncate(memory.get(), 0), -1);
  CHECK_EQ(ftruncate(memory.get(), 1 << 20), -1);
  CHECK(!os::isMappable(memory.get(), 5000));  // somebody could still seal it against writing
  CHECK(os::sealMemory(memory.get(), false));
  CHECK(os::isMappable(memory.get(), 5000));
  CHECK(os::isMappable(memory.get(), 8192));
  CHECK(!os::isMappable(memory.get(), 8193));
  CHECK(!os::isMappable(memory.get(), 0));
  CHECK(!os::sealMemory(memory.get(), true));
}

TEST(memory_sealed_read_only_stays_writable_where_it_was_mapped) {
  const os::FileDescriptor memory = os::createMemory("queuepair-os", 100);
  std::byte* mine = os::mapMemory(memory.get(), os::pageBytes(), true);
  REQUIRE(mine != nullptr);
  CHECK(os::sealMemory(memory.get(), true));
  CHECK(os::mapMemory(memory.get(), os::pageBytes(), true) == nullptr);
  const std::byte* theirs = os::mapMemory(memory.get(), os::pageBytes(), false);
  REQUIRE(theirs != nullptr);
  mine[7] = std::byte{42};
  CHECK_EQ(theirs[7], std::byte{42});
  CHECK(os::replaceWithAnonymous(mine, os::pageBytes()));
  CHECK_EQ(mine[7], std::byte{0});
  CHECK_EQ(theirs[7], std::byte{42});
  os::unmapMemory(mine, os::pageBytes());
  os::unmapMemory(const_cast<std::byte*>(theirs), os::pageBytes());
}

TEST(impossible_sizes_are_refused) {
  CHECK(!os::createMemory("queuepair-os", ~0ULL).valid());
  CHECK(!os::createMemory("queuepair-os", 1ULL << 63U).valid());
}

TEST(a_name_belongs_to_one_socket_and_goes_with_it) {
  os::FileDescriptor first = os::listenOnSocket(uniqueName("name"), 1);
  REQUIRE(first.valid());
  CHECK(closesOnExec(first.get()));
  CHECK(!os::listenOnSocket(uniqueName("name"), 1).valid());
  CHECK_EQ(errno, EADDRINUSE);
  first.reset();
  CHECK(os::listenOnSocket(uniqueName("name"), 1).valid());
  const os::FileDescriptor socket = os::createSocket();
  CHECK_EQ(os::connectSocket(socket.get(), uniqueName("nobody")), ECONNREFUSED);
}

TEST(a_full_backlog_says_again) {
  const os::FileDescriptor listener = os::listenOnSocket(uniqueName("full"), 1);
  std::array<os::FileDescriptor, 4> sockets;
  int last = 0;
  for (auto& socket : sockets) {
    socket = os::createSocket();
    last = os::connectSocket(socket.get(), uniqueName("full"));
  }
  CHECK_EQ(last, EAGAIN);
  CHECK(os::acceptSocket(listener.get()).valid());
  CHECK_EQ(os::connectSocket(sockets.back().get(), uniqueName("full")), 0);
}

TEST(messages_keep_their_bounds_and_carry_a_descriptor) {
  const Ends ends = connectedPair("messages");
  os::SocketCredentials credentials;
  CHECK(os::socketCredentials(ends.a.get(), credentials));
  CHECK_EQ(credentials.processId, getpid());
  CHECK_EQ(credentials.userId, os::ownUserId());

  const os::FileDescriptor memory = os::createMemory("queuepair-os", 1);
  const std::array<std::byte, 3> text{std::byte{1}, std::byte{2}, std::byte{3}};
  std::array<std::byte, 16> into{};
  CHECK_EQ(os::sendSocketMessage(ends.a.get(), text, memory.get()), 0);
  CHECK_EQ(os::sendSocketMessage(ends.a.get(), std::span(text).first(1)), 0);
  SocketMessage message = os::receiveSocketMessage(ends.b.get(), into);
  CHECK_EQ(message.kind, SocketMessage::Kind::kMessage);
  CHECK_EQ(message.byteLength, 3U);
  REQUIRE(message.attached.valid());
  CHECK(closesOnExec(message.attached.get()));
  message = os::receiveSocketMessage(ends.b.get(), into);
  CHECK_EQ(message.byteLength, 1U);
  CHECK(!message.attached.valid());
  CHECK_EQ(os::receiveSocketMessage(ends.b.get(), into).kind, SocketMessage::Kind::kNothing);

  CHECK_EQ(os::sendSocketMessage(ends.a.get(), text), 0);
  message = os::receiveSocketMessage(ends.b.get(), std::span(into).first(2));
  CHECK_EQ(message.kind, SocketMessage::Kind::kTruncated);
}

TEST(what_was_sent_before_the_end_is_read_before_it) {
  for (const bool unread : {false, true}) {
    Ends ends = connectedPair(unread ? "reset" : "end");
    const std::array<std::byte, 2> text{};
    std::array<std::byte, 16> into{};
    CHECK_EQ(os::sendSocketMessage(ends.a.get(), text), 0);
    // A socket closed with unread messages resets its peer.
    if (unread) CHECK_EQ(os::sendSocketMessage(ends.b.get(), text), 0);
    ends.a.reset();
    CHECK_EQ(os::receiveSocketMessage(ends.b.get(), into).kind, SocketMessage::Kind::kMessage);
    CHECK_EQ(os::receiveSocketMessage(ends.b.get(), into).kind, SocketMessage::Kind::kEnd);
    CHECK_EQ(os::sendSocketMessage(ends.b.get(), text), EPIPE);
  }
  const Ends ends = connectedPair("half");
  os::endSocketWrites(ends.a.get());
  std::array<std::byte, 16> into{};
  CHECK_EQ(os::receiveSocketMessage(ends.b.get(), into).kind, SocketMessage::Kind::kEnd);
  CHECK_EQ(os::sendSocketMessage(ends.b.get(), std::span(into).first(1)), 0);
  CHECK_EQ(os::receiveSocketMessage(ends.a.get(), into).kind, SocketMessage::Kind::kMessage);
}

TEST(a_full_socket_says_again) {
  const Ends ends = connectedPair("full-socket");
  const std::array<std::byte, 1> byte{};
  int error = 0;
  for (int i = 0; i < 100'000 && error == 0; ++i) {
    error = os::sendSocketMessage(ends.a.get(), byte);
  }
  CHECK_EQ(error, EAGAIN);
}

TEST(addresses_are_told_apart) {
  CHECK_EQ(os::classifyAddress("127.0.0.1"), AddressKind::kLocal);
  CHECK_EQ(os::classifyAddress("127.255.1.2"), AddressKind::kLocal);
  CHECK_EQ(os::classifyAddress("::1"), AddressKind::kLocal);
  CHECK_EQ(os::classifyAddress("::ffff:127.0.0.1"), AddressKind::kLocal);
  CHECK_EQ(os::classifyAddress("0.0.0.0"), AddressKind::kWildcard);
  CHECK_EQ(os::classifyAddress("::"), AddressKind::kWildcard);
  CHECK_EQ(os::classifyAddress("192.0.2.7"), AddressKind::kForeign);
  CHECK_EQ(os::classifyAddress("2001:db8::7"), AddressKind::kForeign);
  CHECK_EQ(os::classifyAddress("fe80::dead:beef%lo"), AddressKind::kForeign);
  for (const char* text : {"", "localhost", "1.2.3", "1.2.3.4.5", "256.0.0.1", "::g", "1.2.3.4 "}) {
    CHECK_EQ(os::classifyAddress(text), AddressKind::kInvalid);
  }
}
