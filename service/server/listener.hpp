#pragma once

#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/ssl/context.hpp>
#include <asio/steady_timer.hpp>
#include <list>
#include <memory>
#include <optional>
#include <string>

#include "service/server/connection.hpp"
#include "service/server/job_store.hpp"
#include "service/server/service_context.hpp"
#include "service/server/session_store.hpp"

namespace service {

/// Takes connections up to the limit, and from one address up to its share of it. At the limit, one
/// that has not introduced itself yet makes room for a new one, rather one of the same address; if
/// there is none, the new one is told that the service is busy.
class Listener {
 public:
  /// @throws proto::InputError when the address cannot be listened at
  Listener(asio::io_context& io, ServiceContext& context, SessionStore& sessions, JobStore& jobs,
           const asio::ip::tcp::endpoint& endpoint, std::optional<asio::ssl::context> tls,
           ConnectionTimeouts timeouts);

  void start();

  /// Takes no more connections and lets the present ones end after what is being sent.
  void shut_down();

  std::uint16_t port() const { return acceptor_.local_endpoint().port(); }
  std::size_t connection_count() const { return connections_.size(); }

 private:
  void accept();
  void take(asio::ip::tcp::socket socket);
  /// Cuts off a connection, from that address unless it is empty, that has not introduced itself.
  bool make_room(const std::string& address);
  /// Empty where one more connection from there can be served.
  std::string reason_against(const std::string& address);

  ServiceContext& context_;
  SessionStore& sessions_;
  JobStore& jobs_;
  asio::ip::tcp::acceptor acceptor_;
  asio::steady_timer pause_;
  std::optional<asio::ssl::context> tls_;
  ConnectionTimeouts timeouts_;
  std::list<std::shared_ptr<Connection>> connections_;  // oldest first
};

}  // namespace service
