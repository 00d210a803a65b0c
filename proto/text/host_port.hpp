#pragma once

#include <cstdint>
#include <string>

namespace proto {

/// Where a program listens or connects to.
struct HostPort {
  std::string host;  ///< a name or an address, without brackets
  std::uint16_t port = 0;
};

/// Reads "HOST:PORT", with a number from 0 to 65535; an IPv6 address stands in brackets.
/// @throws InputError
HostPort parse_host_port(const std::string& text);

}  // namespace proto
