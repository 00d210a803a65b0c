#include "service/server/http_endpoint.hpp"

#include <asio/buffer.hpp>
#include <asio/read_until.hpp>
#include <asio/steady_timer.hpp>
#include <asio/write.hpp>
#include <utility>

namespace service {
namespace {

constexpr std::size_t kRequestSizeMax = 8u << 10;
constexpr std::chrono::seconds kDuration(5);

std::string response(const char* status, const std::string& type, const std::string& body) {
  return std::string("HTTP/1.1 ") + status + "\r\nContent-Type: " + type +
         "\r\nContent-Length: " + std::to_string(body.size()) +
         "\r\nConnection: close\r\nCache-Control: no-store\r\n\r\n" + body;
}

}  // namespace

// One request and its answer.
class HttpEndpoint::HttpExchange : public std::enable_shared_from_this<HttpExchange> {
 public:
  HttpExchange(StreamSocket socket, const HttpEndpoint& endpoint)
      : socket_(std::move(socket)), timer_(socket_.get_executor()), endpoint_(endpoint) {}

  void run() {
    timer_.expires_after(kDuration);
    timer_.async_wait([self = shared_from_this()](const asio::error_code& error) {
      if (!error) self->cut();
    });
    asio::async_read_until(socket_, asio::dynamic_buffer(request_, kRequestSizeMax), "\r\n\r\n",
                           [self = shared_from_this()](const asio::error_code& error, std::size_t) {
                             if (error) return self->end();
                             self->answer();
                           });
  }

  void cut() {
    asio::error_code ignored;
    socket_.close(ignored);
  }

 private:
  void answer() {
    response_ = endpoint_.make_response(request_);
    asio::async_write(socket_, asio::buffer(response_),
                      [self = shared_from_this()](const asio::error_code&, std::size_t) {
                        asio::error_code ignored;
                        self->socket_.shutdown(asio::socket_base::shutdown_both, ignored);
                        self->end();
                      });
  }
  void end() { timer_.cancel(); }

  StreamSocket socket_;
  asio::steady_timer timer_;
  const HttpEndpoint& endpoint_;
  std::string request_;
  std::string response_;
};

HttpEndpoint::HttpEndpoint(asio::io_context& io, const ListenAddress& place, HttpPages pages)
    : acceptor_(io, place, "--http"), pages_(std::move(pages)) {}

void HttpEndpoint::start() {
  acceptor_.start([this](StreamSocket socket) { serve_connection(std::move(socket)); });
}

void HttpEndpoint::serve_connection(StreamSocket socket) {
  open_.remove_if([](const auto& exchange) { return exchange.expired(); });
  if (open_.size() >= kOpenMax) {
    if (const auto oldest = open_.front().lock()) oldest->cut();
    open_.pop_front();
  }
  const auto exchange = std::make_shared<HttpExchange>(std::move(socket), *this);
  open_.push_back(exchange);
  exchange->run();
}

std::string HttpEndpoint::make_response(const std::string& request) const {
  const std::string line = request.substr(0, request.find("\r\n"));
  if (!line.starts_with("GET ")) {
    return response("405 Method Not Allowed", "text/plain", "only GET is answered\n");
  }
  const std::string path = line.substr(4, line.find(' ', 4) - 4);
  if (path == "/metrics") {
    return response("200 OK", "text/plain; version=0.0.4", pages_.metrics());
  }
  if (path == "/health") {
    return pages_.healthy() ? response("200 OK", "text/plain", "ok\n")
                            : response("503 Service Unavailable", "text/plain", "not healthy\n");
  }
  return response("404 Not Found", "text/plain", "there are /metrics and /health\n");
}

}  // namespace service
