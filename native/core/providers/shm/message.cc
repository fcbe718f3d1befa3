#include "core/providers/shm/message.h"

#include <array>
#include <cstring>

#include "core/os/unix_socket.h"

namespace queuepair::shm {

int sendMessage(int socket, const Message& message, std::span<const std::byte> privateData,
                int attached) noexcept {
  std::array<std::byte, kMaxMessageBytes> bytes{};
  Message header = message;
  header.privateBytes = static_cast<std::uint32_t>(privateData.size());
  std::memcpy(bytes.data(), &header, sizeof(header));
  if (!privateData.empty()) {
    std::memcpy(bytes.data() + sizeof(header), privateData.data(), privateData.size());
  }
  const auto used = std::span(bytes).first(sizeof(header) + privateData.size());
  return os::sendSocketMessage(socket, used, attached);
}

ParsedMessage parseMessage(std::span<const std::byte> bytes) noexcept {
  ParsedMessage parsed;
  if (bytes.size() < sizeof(Message)) return parsed;
  std::memcpy(&parsed.header, bytes.data(), sizeof(Message));
  parsed.privateData = bytes.subspan(sizeof(Message));
  parsed.valid = parsed.header.magic == kMagic && parsed.header.version == kVersion &&
                 parsed.header.privateBytes == parsed.privateData.size() &&
                 parsed.privateData.size() <= kMaxPrivateBytes;
  return parsed;
}

}  // namespace queuepair::shm
