#pragma once

#include <cstdint>
#include <string>

namespace proto {

/// Network address (host and port) that a program listens on or connects to.
struct NetworkAddress {
  std::string host;  ///< a name or an address, without brackets
  std::uint16_t port = 0;
};

/// Parses "HOST:PORT", with a port from 0 to 65535 and an IPv6 address in brackets.
/// @throws InputError
NetworkAddress parse_host_port(const std::string& text);

/// Address of a service: on the network, or a Unix socket of this machine.
struct ServiceLocation {
  NetworkAddress network;
  std::string unix_path;  ///< path of the Unix socket; empty: a network address
};

/// Parses "HOST:PORT" or "unix:/PATH".
/// @throws InputError
ServiceLocation parse_service_address(const std::string& text);

/// Returns the default address of this account's service: unix:$XDG_RUNTIME_DIR/rigcald.sock, or
/// kMachineServiceAddress if that variable is not set.
std::string account_service_address();
inline constexpr const char* kMachineServiceAddress = "unix:/run/rigcald/rigcald.sock";

/// Returns the default address for clients: the account's service if its socket exists, else the
/// machine's service.
std::string default_service_address();

}  // namespace proto
