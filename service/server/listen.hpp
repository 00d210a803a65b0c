#pragma once

#include <asio/basic_socket_acceptor.hpp>
#include <asio/generic/stream_protocol.hpp>
#include <asio/io_context.hpp>
#include <asio/steady_timer.hpp>
#include <functional>
#include <string>

namespace service {

// Types that hold TCP and Unix sockets alike.
using StreamEndpoint = asio::generic::stream_protocol::endpoint;
using StreamSocket = asio::generic::stream_protocol::socket;

/// Network or Unix-socket address at which the service listens.
struct ListenAddress {
  StreamEndpoint endpoint;
  std::string unix_path;  ///< path of the Unix socket; empty for an IP address
  bool loopback = false;  ///< not reachable from other machines
};

/// Parses an address: "HOST:PORT", "[IPv6]:PORT" or "unix:/PATH". Resolves host names.
/// @throws proto::InputError
ListenAddress parse_listen_address(asio::io_context& io, const std::string& text);

/// Socket that listens at an address and accepts connections until it is closed.
class Acceptor {
 public:
  /// Binds the socket and listens. Replaces a Unix socket that a dead process left behind. Every
  /// account of this machine may connect to the Unix socket.
  /// @param option  command-line option that sets the address, for messages
  /// @throws proto::InputError
  Acceptor(asio::io_context& io, const ListenAddress& place, const std::string& option);

  /// Starts to accept connections.
  /// @param take    called with each connection
  /// @param failed  called if accepting fails; accepting continues a moment later
  void start(std::function<void(StreamSocket)> take,
             std::function<void(const asio::error_code&)> failed = {});
  void close();

  StreamEndpoint local_endpoint() const { return acceptor_.local_endpoint(); }
  const std::string& unix_path() const { return unix_path_; }  ///< empty for an IP address

 private:
  void accept_next();

  asio::basic_socket_acceptor<asio::generic::stream_protocol> acceptor_;
  asio::steady_timer pause_;
  std::string unix_path_;
  std::function<void(StreamSocket)> take_;
  std::function<void(const asio::error_code&)> failed_;
};

/// Returns the text of a socket address for users and for the option --server: address and port,
/// or the path of a Unix socket.
std::string endpoint_text(const StreamEndpoint& endpoint);

/// Returns the port number of a socket address, or 0 for a Unix socket.
std::uint16_t port_number(const StreamEndpoint& endpoint);

}  // namespace service
