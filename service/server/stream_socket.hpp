#pragma once

#include <asio/basic_socket_acceptor.hpp>
#include <asio/generic/stream_protocol.hpp>

namespace service {

// Types that hold TCP and Unix sockets alike.
using StreamEndpoint = asio::generic::stream_protocol::endpoint;
using StreamSocket = asio::generic::stream_protocol::socket;
using StreamAcceptor = asio::basic_socket_acceptor<asio::generic::stream_protocol>;

}  // namespace service
