#include "service/server/http_server.hpp"

#include <algorithm>

#include "service/server/http_connection.hpp"

namespace service {

HttpServer::HttpServer(asio::io_context& io, const ListenAddress& place, HttpServices services,
                       const HttpAccessConfig& access, bool open_to_accounts, HttpTimeouts timeouts)
    : acceptor_(io, place, "--http"),
      services_(std::move(services)),
      access_(access, services_.context.operators, port(), place.loopback, open_to_accounts),
      timeouts_(timeouts) {}

void HttpServer::start() {
  acceptor_.start([this](StreamSocket socket) { add_connection(std::move(socket)); });
}

void HttpServer::shut_down() {
  acceptor_.close();
  for (const auto& entry : connections_) {
    if (const auto connection = entry.lock()) connection->close();
  }
  connections_.clear();
}

bool HttpServer::has_room_for_events() const {
  const auto count = std::ranges::count_if(connections_, [](const auto& entry) {
    const auto connection = entry.lock();
    return connection && connection->is_sending_events();
  });
  return static_cast<std::size_t>(count) <= kEventStreamsMax;
}

void HttpServer::add_connection(StreamSocket socket) {
  std::erase_if(connections_, [](const auto& entry) { return entry.expired(); });
  if (connections_.size() >= kConnectionsMax) {
    const auto waiting = std::ranges::find_if(connections_, [](const auto& entry) {
      const auto connection = entry.lock();
      return connection && connection->is_waiting_for_client();
    });
    const auto replaced = waiting != connections_.end() ? waiting : connections_.begin();
    if (const auto connection = replaced->lock()) connection->close();
    connections_.erase(replaced);
    ++services_.context.metrics.connections_refused_total["http"];
  }
  const auto connection = std::make_shared<HttpConnection>(*this, std::move(socket));
  connections_.push_back(connection);
  connection->start();
}

}  // namespace service
