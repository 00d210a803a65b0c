#include "service/server/listener.hpp"

#include <algorithm>
#include <utility>

#include "service/server/listen.hpp"
#include "service/server/log.hpp"

namespace service {

Listener::Listener(asio::io_context& io, ServiceContext& context, SessionStore& sessions,
                   JobStore& jobs, const asio::ip::tcp::endpoint& endpoint,
                   std::optional<asio::ssl::context> tls, ConnectionTimeouts timeouts)
    : context_(context),
      sessions_(sessions),
      jobs_(jobs),
      acceptor_(io),
      pause_(io),
      tls_(std::move(tls)),
      timeouts_(timeouts) {
  listen_at(acceptor_, endpoint, "--listen");
}

void Listener::start() { accept(); }

void Listener::accept() {
  acceptor_.async_accept([this](const asio::error_code& error, asio::ip::tcp::socket socket) {
    if (error == asio::error::operation_aborted) return;
    if (!error) {
      take(std::move(socket));
      return accept();
    }
    // Out of descriptors, most likely: trying again at once would only burn the processor.
    log_event(LogLevel::kError, "accept_failed", {{"error", error.message()}});
    make_room("");
    pause_.expires_after(std::chrono::milliseconds(100));
    pause_.async_wait([this](const asio::error_code& cancelled) {
      if (!cancelled) accept();
    });
  });
}

bool Listener::make_room(const std::string& address) {
  const auto silent =
      std::find_if(connections_.begin(), connections_.end(), [&](const auto& connection) {
        return !connection->greeted() && (address.empty() || connection->address() == address);
      });
  if (silent == connections_.end()) return false;
  const std::shared_ptr<Connection> connection = *silent;  // abort() takes it off the list
  connection->abort("made room for a newer connection before introducing itself");
  return true;
}

std::string Listener::reason_against(const std::string& address) {
  const std::uint32_t limit = context_.limits.connections;
  const std::uint32_t share = ServiceLimits::share(limit);
  const auto of_address =
      std::count_if(connections_.begin(), connections_.end(), [&](const auto& connection) {
        return connection->greeted() && connection->address() == address;
      });
  if (of_address >= share) {
    return std::to_string(of_address) + " connections from " + address +
           " are open, as many as this service takes from one address; close some";
  }
  if (connections_.size() >= limit && !make_room(address) && !make_room("")) {
    return std::to_string(limit) +
           " connections are open, the limit of this service; try again later";
  }
  return "";
}

void Listener::take(asio::ip::tcp::socket socket) {
  ++context_.metrics.connections_total;
  asio::error_code ignored;
  const auto peer = socket.remote_endpoint(ignored);
  const std::string address = peer.address().to_string();
  const std::string refusal = reason_against(address);
  auto conversation =
      std::make_shared<Conversation>(context_, sessions_, jobs_, PeerName{address, peer.port()});
  auto connection = std::make_shared<Connection>(
      context_, std::move(socket), tls_ ? &*tls_ : nullptr, timeouts_, conversation,
      [this](Connection* ended) {
        std::erase_if(connections_, [&](const auto& other) { return other.get() == ended; });
        context_.metrics.connections = connections_.size();
      });
  connections_.push_back(connection);
  context_.metrics.connections = connections_.size();
  if (!refusal.empty()) {
    ++context_.metrics.connections_refused_total["limit"];
    conversation->refuse_busy(refusal);
  }
  connection->start();
}

void Listener::shut_down() {
  asio::error_code ignored;
  acceptor_.close(ignored);
  pause_.cancel();
  const auto connections = connections_;  // finish() may take some off the list
  for (const auto& connection : connections) connection->finish();
}

}  // namespace service
