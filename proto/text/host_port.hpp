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

/// Where a service is: over the network, or at a Unix socket of this machine.
struct ServicePlace {
  HostPort network;
  std::string unix_path;  ///< instead, where it is not empty
};

/// Reads "HOST:PORT" or "unix:/PATH".
/// @throws InputError
ServicePlace parse_service_place(const std::string& text);

/// Where a service of this account listens, and is looked for, unless it is told otherwise:
/// unix:$XDG_RUNTIME_DIR/rigcald.sock, or kMachinePlace where that variable is not set.
std::string account_service_place();
inline constexpr const char* kMachinePlace = "unix:/run/rigcald/rigcald.sock";

/// Where a client looks for a service: that of its account if there is a socket, else the
/// machine's.
std::string default_service_place();

}  // namespace proto
