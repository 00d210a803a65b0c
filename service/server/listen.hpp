#pragma once

#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <string>

namespace service {

/// "HOST:PORT" or "[IPv6]:PORT" as an address to listen at. Names are looked up.
/// @throws proto::InputError
asio::ip::tcp::endpoint parse_endpoint(asio::io_context& io, const std::string& text);

/// Binds and listens.
/// @param option  of the command line that sets the address, for messages
/// @throws proto::InputError
void listen_at(asio::ip::tcp::acceptor& acceptor, const asio::ip::tcp::endpoint& endpoint,
               const std::string& option);

}  // namespace service
