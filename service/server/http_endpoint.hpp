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
/// connection replaces the oldest connection, so idle clients cannot block others.
class HttpEndpoint {
 public:
  static constexpr std::size_t kOpenMax = 16;

  struct HttpPages {
    std::function<std::string()> metrics;
    std::function<bool()> healthy;
  };

  /// Starts to listen at an address.
  /// @throws proto::InputError if it cannot listen there
  HttpEndpoint(asio::io_context& io, const ListenAddress& place, HttpPages pages);

  void start();
  void shut_down() { acceptor_.close(); }
  std::uint16_t port() const { return port_number(acceptor_.local_endpoint()); }

 private:
  class HttpExchange;

  void serve_connection(StreamSocket socket);
  std::string make_response(const std::string& request) const;

  Acceptor acceptor_;
  HttpPages pages_;
  std::list<std::weak_ptr<HttpExchange>> open_;  // oldest first
};

}  // namespace service
