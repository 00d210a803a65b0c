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

/// Takes connections at several places up to the limit, and from one identity up to its share of
/// it. At the limit, one that has not introduced itself yet makes room for a new one, rather one of
/// the same identity; if there is none, the new one is told that the service is busy.
class Listener {
 public:
  /// @throws proto::InputError when the address cannot be listened at
  Listener(asio::io_context& io, ServiceContext& context, SessionStore& sessions, JobStore& jobs,
           const std::vector<ListenPlace>& places, std::optional<asio::ssl::context> tls,
           ConnectionTimeouts timeouts);
  ~Listener();
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  void start();

  /// Takes no more connections and lets the present ones end after what is being sent.
  void shut_down();

  /// Where it listens, one text a place, with the ports that the kernel chose.
  std::vector<std::string> places() const;
  std::size_t connection_count() const { return connections_.size(); }

 private:
  struct Door {
    explicit Door(asio::io_context& io) : acceptor(io), pause(io) {}
    StreamAcceptor acceptor;
    asio::steady_timer pause;
    std::string unix_path;
  };

  void accept(Door& door);
  void take(StreamSocket socket, bool local);
  /// Cuts off a connection that is not in use, of that identity unless it is empty.
  bool make_room(const std::string& identity);
  /// Empty where that connection's first message can be served.
  std::string reason_against(const Conversation& newcomer) const;

  ServiceContext& context_;
  SessionStore& sessions_;
  JobStore& jobs_;
  std::list<Door> doors_;
  std::optional<asio::ssl::context> tls_;
  ConnectionTimeouts timeouts_;
  std::list<std::shared_ptr<Connection>> connections_;  // oldest first
};

}  // namespace service
