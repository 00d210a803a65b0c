#pragma once

#include <asio/io_context.hpp>
#include <string>

#include "service/server/stream_socket.hpp"

namespace service {

/// Where to listen.
struct ListenPlace {
  StreamEndpoint endpoint;
  std::string unix_path;  ///< of the socket, empty: an address
  bool loopback = false;  ///< nobody on another machine reaches it
};

/// "HOST:PORT" or "[IPv6]:PORT", where names are looked up, or "unix:/PATH".
/// @throws proto::InputError
ListenPlace parse_listen_place(asio::io_context& io, const std::string& text);

/// Binds and listens. A Unix socket that a dead process left makes room; every account of this
/// machine may connect to the new one.
/// @param option  of the command line that sets the address, for messages
/// @throws proto::InputError
void listen_at(StreamAcceptor& acceptor, const ListenPlace& place, const std::string& option);

/// Address and port, or path, for people and for --server.
std::string place_text(const StreamEndpoint& endpoint);

/// 0 for a Unix socket.
std::uint16_t port_of(const StreamEndpoint& endpoint);

}  // namespace service
