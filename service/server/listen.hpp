#pragma once

#include <asio/io_context.hpp>
#include <string>

#include "service/server/stream_socket.hpp"

namespace service {

/// Network or Unix-socket address at which the service listens.
struct ListenAddress {
  StreamEndpoint endpoint;
  std::string unix_path;  ///< path of the Unix socket; empty for an IP address
  bool loopback = false;  ///< not reachable from other machines
};

/// Parses an address: "HOST:PORT", "[IPv6]:PORT" or "unix:/PATH". Resolves host names.
/// @throws proto::InputError
ListenAddress parse_listen_address(asio::io_context& io, const std::string& text);

/// Binds a socket to an address and listens there. Replaces a Unix socket that a dead process left
/// behind. Every account of this machine may connect to the Unix socket.
/// @param option  command-line option that sets the address, for messages
/// @throws proto::InputError
void listen_at(StreamAcceptor& acceptor, const ListenAddress& place, const std::string& option);

/// Returns an endpoint as text for people and for the option --server: address and port, or the
/// socket's path.
std::string endpoint_text(const StreamEndpoint& endpoint);

/// Returns the port of an endpoint, or 0 for a Unix socket.
std::uint16_t port_of(const StreamEndpoint& endpoint);

}  // namespace service
