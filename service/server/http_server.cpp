#include "service/server/http_server.hpp"

#include <algorithm>

#include "service/server/foxglove/foxglove_viewer.hpp"
#include "service/server/http_connection.hpp"

namespace service {

HttpServer::HttpServer(asio::io_context& io, const ListenAddress& place, HttpServices services,
                       const HttpAccessConfig& access, bool open_to_accounts, HttpTimeouts timeouts)
    : io_(io),
      acceptor_(io, place, "--http"),
      services_(std::move(services)),
      access_(access, services_.context.operators, port(), place.loopback, open_to_accounts),
      timeouts_(timeouts) {}

HttpServer::~HttpServer() = default;

void HttpServer::start() {
  acceptor_.start([this](StreamSocket socket) { add_connection(std::move(socket)); });
}

void HttpServer::shut_down() {
  acceptor_.close();
  for (const auto& entry : connections_) {
    if (const auto connection = entry.lock()) connection->close();
  }
  connections_.clear();
  for (const auto& [number, viewer] : viewers_) viewer->on_closed();
  viewers_.clear();
  sockets_.reset();
}

void HttpServer::add_viewer(int descriptor, const HttpRequest& request, const std::string& protocol,
                            Peer peer) {
  if (!sockets_) {
    const auto with = [this](std::uint64_t number, const auto& use) {
      const auto found = viewers_.find(number);
      if (found == viewers_.end()) return;
      const auto viewer = found->second;
      use(*viewer);
    };
    sockets_ = std::make_unique<WebSocketThread>(
        services_.context.main,
        WebSocketThread::Handlers{
            [with](std::uint64_t number, const std::string& text) {
              with(number, [&](FoxgloveViewer& viewer) { viewer.on_text(text); });
            },
            [this, with](std::uint64_t number) {
              with(number, [&](FoxgloveViewer& viewer) { viewer.on_closed(); });
              viewers_.erase(number);
            }});
  }
  const std::uint64_t number = sockets_->accept(descriptor, request, protocol);
  if (number == 0) return;
  const auto viewer = std::make_shared<FoxgloveViewer>(services_, *sockets_, number,
                                                       std::move(peer), io_.get_executor());
  viewers_[number] = viewer;
  viewer->start();
}

bool HttpServer::has_room_for_events() const {
  const auto count = std::ranges::count_if(connections_, [](const auto& entry) {
    const auto connection = entry.lock();
    return connection && connection->is_sending_events();
  });
  return static_cast<std::size_t>(count) + viewers_.size() <= kEventStreamsMax;
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
