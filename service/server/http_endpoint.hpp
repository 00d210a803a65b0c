#pragma once

#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/steady_timer.hpp>
#include <functional>
#include <string>

namespace service {

/// Answers GET /metrics and GET /health for monitoring: HTTP/1.1, one request a connection, 16
/// connections and 5 s each at most.
class HttpEndpoint {
 public:
  struct Pages {
    std::function<std::string()> metrics;
    std::function<bool()> healthy;
  };

  /// @throws proto::InputError when the address cannot be listened at
  HttpEndpoint(asio::io_context& io, const asio::ip::tcp::endpoint& endpoint, Pages pages);

  void start() { accept(); }
  void shut_down();
  std::uint16_t port() const { return acceptor_.local_endpoint().port(); }

 private:
  class Exchange;

  void accept();
  std::string respond(const std::string& request) const;

  asio::ip::tcp::acceptor acceptor_;
  asio::steady_timer pause_;
  Pages pages_;
  int open_count_ = 0;
};

}  // namespace service
