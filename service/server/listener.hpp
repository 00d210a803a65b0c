#pragma once

#include <asio/io_context.hpp>
#include <asio/ssl/context.hpp>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "service/server/connection.hpp"
#include "service/server/jobs/job_store.hpp"
#include "service/server/listen.hpp"
#include "service/server/sessions/service_context.hpp"
#include "service/server/sessions/session_store.hpp"

namespace service {

/// Accepts clients' connections at several addresses, up to a limit in total and a share per
/// identity. At the limit in total, a new connection replaces a connection whose client has not
/// sent a valid first message, preferably of the same identity. At either limit, the first message
/// of a client replaces the connection of the same identity that waits for its client, beginning
/// with the one that has waited longest. If there is no such connection, the new client gets a
/// "busy" reply.
class Listener {
 public:
  /// Starts to listen at the addresses `places`.
  /// @throws proto::InputError if it cannot listen at an address
  Listener(asio::io_context& io, ServiceContext& context, SessionStore& sessions, JobStore& jobs,
           const std::vector<ListenAddress>& places, std::optional<asio::ssl::context> tls,
           ConnectionTimeouts timeouts);
  ~Listener();
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  void start();

  /// Stops accepting connections; existing connections close after they have sent their pending
  /// output.
  void shut_down();

  /// Returns the addresses at which the service listens, with the ports that the kernel chose.
  std::vector<std::string> listen_addresses() const;
  std::size_t connection_count() const { return connections_.size(); }

 private:
  void add_connection(StreamSocket socket, bool local);
  /// Closes a connection that is not in use, so that a new connection can be accepted. If
  /// `identity` is not empty, closes only a connection of that identity.
  /// @return whether it closed a connection
  bool close_unused_connection(const std::string& identity);
  /// Closes the connection of an identity that comes first in the order of replacement.
  /// @return whether it closed a connection
  bool close_waiting_connection(const std::string& identity);
  /// Makes room for the client of a new connection that has sent its first message.
  /// @return the reason why the service refuses the client, or an empty text if there is room
  std::string make_room(const std::string& identity);

  ServiceContext& context_;
  SessionStore& sessions_;
  JobStore& jobs_;
  std::list<Acceptor> acceptors_;
  std::optional<asio::ssl::context> tls_;
  ConnectionTimeouts timeouts_;
  std::list<std::shared_ptr<Connection>> connections_;  // oldest first
};

}  // namespace service
