#include "core/os/local_address.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cstring>

namespace queuepair::os {
namespace {

template <typename Predicate>
bool anyInterface(int family, Predicate matches) noexcept {
  ifaddrs* interfaces = nullptr;
  if (getifaddrs(&interfaces) != 0) return false;
  bool found = false;
  for (const ifaddrs* at = interfaces; at != nullptr && !found; at = at->ifa_next) {
    found = at->ifa_addr != nullptr && at->ifa_addr->sa_family == family && matches(at->ifa_addr);
  }
  freeifaddrs(interfaces);
  return found;
}

AddressKind classify(const in_addr& address) noexcept {
  constexpr std::uint32_t kLoopbackNet = 127;  // 127.0.0.0/8
  const std::uint32_t value = ntohl(address.s_addr);
  if (value == INADDR_ANY) return AddressKind::kWildcard;
  if (value >> 24U == kLoopbackNet) return AddressKind::kLocal;
  const bool found = anyInterface(AF_INET, [&](const sockaddr* at) {
    return reinterpret_cast<const sockaddr_in*>(at)->sin_addr.s_addr == address.s_addr;
  });
  return found ? AddressKind::kLocal : AddressKind::kForeign;
}

AddressKind classify(const in6_addr& address) noexcept {
  if (IN6_IS_ADDR_UNSPECIFIED(&address)) return AddressKind::kWildcard;
  if (IN6_IS_ADDR_LOOPBACK(&address)) return AddressKind::kLocal;
  if (IN6_IS_ADDR_V4MAPPED(&address)) {
    in_addr mapped{};
    std::memcpy(&mapped, &address.s6_addr[12], sizeof(mapped));
    return classify(mapped);
  }
  const bool found = anyInterface(AF_INET6, [&](const sockaddr* at) {
    const in6_addr& here = reinterpret_cast<const sockaddr_in6*>(at)->sin6_addr;
    return std::memcmp(&here, &address, sizeof(address)) == 0;
  });
  return found ? AddressKind::kLocal : AddressKind::kForeign;
}

}  // namespace

AddressKind classifyAddress(const std::string& host) noexcept {
  in_addr v4{};
  if (inet_pton(AF_INET, host.c_str(), &v4) == 1) return classify(v4);
  in6_addr v6{};
  // A zone ("fe80::1%eth0") says which link the address is on; being local does not depend on it.
  const std::string address = host.substr(0, host.find('%'));
  if (inet_pton(AF_INET6, address.c_str(), &v6) == 1) return classify(v6);
  return AddressKind::kInvalid;
}

}  // namespace queuepair::os
