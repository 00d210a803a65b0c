#include "service/server/listener.hpp"

#include <algorithm>
#include <utility>

#include "proto/text/input_error.hpp"
#include "service/server/log.hpp"

namespace service {

asio::ip::tcp::endpoint parse_endpoint(asio::io_context& io, const std::string& text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos || colon == 0 || colon + 1 == text.size()) {
    throw proto::InputError("'" + text + "' is no address; write HOST:PORT, e.g. 127.0.0.1:7330");
  }
  std::string host = text.substr(0, colon);
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') {
    host = host.substr(1, host.size() - 2);
  }
  asio::error_code error;
  const auto found = asio::ip::tcp::resolver(io).resolve(host, text.substr(colon + 1),
                                                         asio::ip::tcp::resolver::passive, error);
  if (error || found.empty()) {
    throw proto::InputError("'" + text + "' is no address: " + error.message());
  }
  return found.begin()->endpoint();
}

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
  asio::error_code error;
  acceptor_.open(endpoint.protocol(), error);
  if (!error) acceptor_.set_option(asio::socket_base::reuse_address(true), error);
  if (!error) acceptor_.bind(endpoint, error);
  if (!error) acceptor_.listen(asio::socket_base::max_listen_connections, error);
  if (error) {
    throw proto::InputError("cannot listen at " + endpoint.address().to_string() + ':' +
                            std::to_string(endpoint.port()) + ": " + error.message());
  }
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
    make_room();
    pause_.expires_after(std::chrono::milliseconds(100));
    pause_.async_wait([this](const asio::error_code& cancelled) {
      if (!cancelled) accept();
    });
  });
}

bool Listener::make_room() {
  const auto silent = std::find_if(connections_.begin(), connections_.end(),
                                   [](const auto& connection) { return !connection->greeted(); });
  if (silent == connections_.end()) return false;
  const std::shared_ptr<Connection> connection = *silent;  // abort() takes it off the list
  connection->abort("made room for a newer connection before introducing itself");
  return true;
}

void Listener::take(asio::ip::tcp::socket socket) {
  ++context_.metrics.connections_total;
  asio::error_code ignored;
  const auto peer = socket.remote_endpoint(ignored);
  const bool full = connections_.size() >= context_.limits.connections && !make_room();
  auto conversation = std::make_shared<Conversation>(
      context_, sessions_, jobs_, peer.address().to_string() + ':' + std::to_string(peer.port()));
  auto connection = std::make_shared<Connection>(
      context_, std::move(socket), tls_ ? &*tls_ : nullptr, timeouts_, conversation,
      [this](Connection* ended) {
        std::erase_if(connections_, [&](const auto& other) { return other.get() == ended; });
        context_.metrics.connections = connections_.size();
      });
  connections_.push_back(connection);
  context_.metrics.connections = connections_.size();
  if (full) {
    ++context_.metrics.connections_refused_total["limit"];
    conversation->refuse_busy(std::to_string(context_.limits.connections) +
                              " connections are open, the limit of this service; try again later");
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
