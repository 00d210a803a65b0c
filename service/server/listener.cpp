#include "service/server/listener.hpp"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "service/server/storage/log.hpp"

namespace service {

Listener::Listener(asio::io_context& io, ServiceContext& context, SessionStore& sessions,
                   JobStore& jobs, const std::vector<ListenAddress>& places,
                   std::optional<asio::ssl::context> tls, ConnectionTimeouts timeouts)
    : context_(context),
      sessions_(sessions),
      jobs_(jobs),
      tls_(std::move(tls)),
      timeouts_(timeouts) {
  for (const ListenAddress& place : places) acceptors_.emplace_back(io, place, "--listen");
}

Listener::~Listener() {
  for (const Acceptor& acceptor : acceptors_) {
    if (!acceptor.unix_path().empty()) ::unlink(acceptor.unix_path().c_str());
  }
}

std::vector<std::string> Listener::listen_addresses() const {
  std::vector<std::string> texts;
  for (const Acceptor& acceptor : acceptors_)
    texts.push_back(endpoint_text(acceptor.local_endpoint()));
  return texts;
}

void Listener::start() {
  for (Acceptor& acceptor : acceptors_) {
    acceptor.start([this, local = !acceptor.unix_path().empty()](
                       StreamSocket socket) { add_connection(std::move(socket), local); },
                   [this](const asio::error_code& error) {
                     log_event(LogLevel::kError, "accept_failed", {{"error", error.message()}});
                     close_unused_connection("");
                   });
  }
}

bool Listener::close_unused_connection(const std::string& identity) {
  const auto idle = std::ranges::find_if(connections_, [&](const auto& connection) {
    return !connection->is_in_use() && (identity.empty() || connection->identity() == identity);
  });
  if (idle == connections_.end()) return false;
  const std::shared_ptr<Connection> connection = *idle;  // abort() removes it from the list
  connection->abort("closed to make room for a newer connection");
  return true;
}

bool Listener::close_waiting_connection(const std::string& identity) {
  std::shared_ptr<Connection> first;  // abort() removes it from the list
  for (const auto& connection : connections_) {
    if (connection->identity() != identity || !connection->is_replaceable()) continue;
    if (!first || connection->replacement_order() < first->replacement_order()) first = connection;
  }
  if (first) first->abort("closed to make room for a newer connection of the same client");
  return first != nullptr;
}

std::string Listener::make_room(const std::string& identity) {
  const auto used_count = std::ranges::count_if(connections_, &Connection::is_in_use);
  const auto own_count = std::ranges::count_if(connections_, [&](const auto& connection) {
    return connection->is_in_use() && connection->identity() == identity;
  });
  const bool share_full = own_count >= context_.limits.limits_per_identity().connections;
  const bool full = used_count >= context_.limits.connections;
  if ((!share_full && !full) || close_waiting_connection(identity)) return "";
  ++context_.metrics.connections_refused_total["limit"];
  if (share_full) {
    return std::to_string(own_count) + " connections from " + identity +
           " are open, the limit for one client; close some";
  }
  return std::to_string(used_count) +
         " connections are open, the limit of this service; try again later";
}

void Listener::add_connection(StreamSocket socket, bool local) {
  ++context_.metrics.connections_total;
  asio::error_code ignored;
  const auto remote = socket.remote_endpoint(ignored);
  const Identity identity = identify_socket_peer(socket.native_handle(), context_.operators);
  if (connections_.size() >= context_.limits.connections &&
      !close_unused_connection(identity.name)) {
    close_unused_connection("");
  }
  auto conversation = std::make_shared<Conversation>(
      context_, sessions_, jobs_, Peer{identity, local ? identity.name : endpoint_text(remote)});
  conversation->set_refusal_check(
      [this, newcomer = conversation.get()] { return make_room(newcomer->identity()); });
  auto connection = std::make_shared<Connection>(
      context_, std::move(socket), tls_ && !local ? &*tls_ : nullptr, timeouts_, conversation,
      [this](Connection* ended) {
        std::erase_if(connections_, [&](const auto& other) { return other.get() == ended; });
        context_.metrics.connections = connections_.size();
      });
  connections_.push_back(connection);
  context_.metrics.connections = connections_.size();
  connection->start();
}

void Listener::shut_down() {
  for (Acceptor& acceptor : acceptors_) acceptor.close();
  const auto connections = connections_;  // close_after_sending() may remove some from the list
  for (const auto& connection : connections) connection->close_after_sending();
}

}  // namespace service
