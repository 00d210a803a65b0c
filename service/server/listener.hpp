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

/// "HOST:PORT" or "[IPv6]:PORT" as an address to listen at. Names are looked up.
/// @throws proto::InputError
asio::ip::tcp::endpoint parse_endpoint(asio::io_context& io, const std::string& text);

/// Takes connections up to the limit. Where it is reached, one that has not introduced itself yet
/// makes room for a new one; if there is none, the new one is told that the service is busy.
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
  bool make_room();

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
