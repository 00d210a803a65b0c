#pragma once

#include <asio/io_context.hpp>
#include <asio/ssl/context.hpp>
#include <asio/steady_timer.hpp>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "service/server/connection.hpp"
#include "service/server/job_store.hpp"
#include "service/server/listen.hpp"
#include "service/server/service_context.hpp"
#include "service/server/session_store.hpp"

namespace service {

/// Accepts connections at several addresses up to a total limit and a share per identity. At the
/// limit a new connection replaces one that has not introduced itself yet, preferably one of the
/// same identity. If there is none, the new one gets a "busy" reply.
class Listener {
 public:
  /// @throws proto::InputError if it cannot listen at an address
  Listener(asio::io_context& io, ServiceContext& context, SessionStore& sessions, JobStore& jobs,
           const std::vector<ListenAddress>& places, std::optional<asio::ssl::context> tls,
           ConnectionTimeouts timeouts);
  ~Listener();
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  void start();

  /// Accepts no more connections and lets the present ones end after their pending output.
  void shut_down();

  /// The addresses it listens at, with the ports chosen by the kernel.
  std::vector<std::string> places() const;
  std::size_t connection_count() const { return connections_.size(); }

 private:
  struct Acceptor {
    explicit Acceptor(asio::io_context& io) : acceptor(io), pause(io) {}
    StreamAcceptor acceptor;
    asio::steady_timer pause;
    std::string unix_path;
  };

  void accept(Acceptor& door);
  void take(StreamSocket socket, bool local);
  /// Closes a connection that is not in use; one of `identity` unless that is empty.
  bool make_room(const std::string& identity);
  /// Returns why the connection's first message cannot be served, or an empty text.
  std::string admission_error(const Conversation& newcomer) const;

  ServiceContext& context_;
  SessionStore& sessions_;
  JobStore& jobs_;
  std::list<Acceptor> acceptors_;
  std::optional<asio::ssl::context> tls_;
  ConnectionTimeouts timeouts_;
  std::list<std::shared_ptr<Connection>> connections_;  // oldest first
};

}  // namespace service
