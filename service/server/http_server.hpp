#pragma once

#include <functional>
#include <list>
#include <map>
#include <memory>
#include <string>

#include "service/server/http_access.hpp"
#include "service/server/jobs/job_store.hpp"
#include "service/server/listen.hpp"
#include "service/server/sessions/session_store.hpp"

namespace service {

class FoxgloveViewer;
class HttpConnection;
class WebSocketThread;
struct Peer;

/// The parts of the service to which the HTTP server gives access.
struct HttpServices {
  ServiceContext& context;
  SessionStore& sessions;
  JobStore& jobs;
  std::function<std::string()> metrics;
  std::function<bool()> is_healthy;
};

/// Time limits for a client of the HTTP server [s].
struct HttpTimeouts {
  std::chrono::duration<double> request{10.0};  ///< from the first to the last byte of a request
  std::chrono::duration<double> idle{60.0};     ///< between requests
  std::chrono::duration<double> write{15.0};    ///< longest time in which the client reads nothing
};

/// HTTP/1.1 server with the web page, the HTTP/JSON interface to sessions and jobs, and /metrics
/// and /health for monitoring. Each connection is a client of the service protocol (Conversation),
/// with the rights and shares of its identity.
///
/// The server keeps at most kConnectionsMax connections. At the limit, a new connection replaces
/// the oldest connection that waits for its client, or else the oldest connection. Slow, idle or
/// very many clients therefore neither block other clients nor affect the sessions of rigs.
class HttpServer {
 public:
  static constexpr std::size_t kConnectionsMax = 96;
  static constexpr std::size_t kEventStreamsMax = 64;  ///< server-sent events at once

  /// Starts to listen at an address.
  /// @param open_to_accounts  see HttpAccess
  /// @throws proto::InputError if it cannot listen there
  HttpServer(asio::io_context& io, const ListenAddress& place, HttpServices services,
             const HttpAccessConfig& access, bool open_to_accounts, HttpTimeouts timeouts = {});
  ~HttpServer();

  void start();
  /// Stops listening and closes all connections.
  void shut_down();
  std::uint16_t port() const { return port_number(acceptor_.local_endpoint()); }

  HttpServices& services() { return services_; }
  HttpAccess& access() { return access_; }
  const HttpTimeouts& timeouts() const { return timeouts_; }

  /// Takes over a connection whose client asks for a WebSocket.
  /// @param descriptor  socket, of which a duplicate is used
  void add_viewer(int descriptor, const HttpRequest& request, const std::string& protocol,
                  Peer peer);

  /// Returns whether a client may subscribe to events now.
  bool has_room_for_events() const;

 private:
  void add_connection(StreamSocket socket);

  asio::io_context& io_;
  Acceptor acceptor_;
  HttpServices services_;
  HttpAccess access_;
  HttpTimeouts timeouts_;
  std::list<std::weak_ptr<HttpConnection>> connections_;  // oldest first
  std::map<std::uint64_t, std::shared_ptr<FoxgloveViewer>> viewers_;
  std::unique_ptr<WebSocketThread> sockets_;  // null: no viewer has connected yet
};

}  // namespace service
