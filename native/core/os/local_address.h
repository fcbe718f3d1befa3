// Whether a numeric address is one of this host's.
#pragma once

#include <cstdint>
#include <string>

namespace queuepair::os {

enum class AddressKind : std::uint8_t {
  kInvalid,   // not a numeric IPv4 or IPv6 address
  kForeign,   // of no interface here
  kLocal,     // an interface's, or loopback
  kWildcard,  // 0.0.0.0 or ::
};

AddressKind classifyAddress(const std::string& host) noexcept;

}  // namespace queuepair::os
