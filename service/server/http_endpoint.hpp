#pragma once

#include <asio/io_context.hpp>
#include <functional>
#include <list>
#include <memory>
#include <string>

#include "service/server/listen.hpp"

namespace service {

/// HTTP/1.1 server that answers GET /metrics and GET /health for monitoring. It serves one request
/// per connection, at most kOpenMax connections at once, each for at most 5 s. At the limit, a new
/// connection replaces the oldest, so a client that sends its request at once is answered however
/// many connections other clients keep open.
class HttpEndpoint {
 public:
  static constexpr std::size_t kOpenMax = 16;

  struct Pages {
    std::function<std::string()> metrics;
    std::function<bool()> healthy;
  };

  /// Starts to listen at an address.
  /// @throws proto::InputError if it cannot listen there
  HttpEndpoint(asio::io_context& io, const ListenAddress& place, Pages pages);

  void start();
  void shut_down() { acceptor_.close(); }
  std::uint16_t port() const { return port_of(acceptor_.endpoint()); }

 private:
  class Exchange;

  void take(StreamSocket socket);
  std::string respond(const std::string& request) const;

  Acceptor acceptor_;
  Pages pages_;
  std::list<std::weak_ptr<Exchange>> open_;  // oldest first
};

}  // namespace service
