#pragma once

#include <asio/io_context.hpp>
#include <string>

#include "service/server/stream_socket.hpp"

namespace service {

/// An address to listen at.
struct ListenAddress {
  StreamEndpoint endpoint;
  std::string unix_path;  ///< path of the Unix socket; empty for an IP address
  bool loopback = false;  ///< not reachable from other machines
};

/// Parses "HOST:PORT" or "[IPv6]:PORT", resolving host names, or "unix:/PATH".
/// @throws proto::InputError
ListenAddress parse_listen_address(asio::io_context& io, const std::string& text);

/// Binds and listens. Replaces a Unix socket left by a dead process; every account of this machine
/// may connect to the new one.
/// @param option  command-line option that sets the address, for messages
/// @throws proto::InputError
void listen_at(StreamAcceptor& acceptor, const ListenAddress& place, const std::string& option);

/// Returns address and port, or path, for people and for --server.
std::string endpoint_text(const StreamEndpoint& endpoint);

/// Returns the port, or 0 for a Unix socket.
std::uint16_t port_of(const StreamEndpoint& endpoint);

}  // namespace service
