#pragma once

#include <asio/steady_timer.hpp>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "service/server/conversation.hpp"
#include "service/server/foxglove/foxglove_feed.hpp"
#include "service/server/foxglove/web_socket_thread.hpp"
#include "service/server/http_server.hpp"

namespace service {

/// Subprotocols of the Foxglove WebSocket protocol that the service speaks, preferred ones first.
/// Both have the same messages for servers of topics.
inline constexpr const char* kFoxgloveProtocols[] = {"foxglove.sdk.v1", "foxglove.websocket.v1"};

/// Returns the subprotocol to use with a client, or an empty text if the client offers none of
/// kFoxgloveProtocols.
std::string choose_foxglove_protocol(const HttpRequest& request);

/// A client of the Foxglove WebSocket protocol. The client receives the channels of the running
/// session and, after its end, the channels of the next session. The viewer is a client of the
/// service protocol with the rights of its identity. Used on the main thread only.
class FoxgloveViewer final : public FrameSink, public std::enable_shared_from_this<FoxgloveViewer> {
 public:
  /// @param connection  number of the connection of `sockets`
  FoxgloveViewer(HttpServices& services, WebSocketThread& sockets, std::uint64_t connection,
                 Peer peer, const asio::any_io_executor& executor);

  void start();
  void on_text(const std::string& text);
  void on_closed();

  void send(std::string frame) override;
  bool can_queue(std::size_t) const override { return true; }
  void send_live_update(const LiveFrame& frame) override;
  void close_after_sending() override { sockets_.close(connection_); }
  void resume_reading() override {}

 private:
  void look_for_session();
  void begin(const rigcal::v1::SessionInfo& session);
  void add_scene(const std::string& rig_text);
  void end_session();
  void send_request(const rigcal::v1::ServiceRequest& request);
  void send_message(const FoxgloveMessage& message);

  HttpServices& services_;
  WebSocketThread& sockets_;
  std::uint64_t connection_;
  std::shared_ptr<Conversation> conversation_;
  asio::steady_timer timer_;
  bool closed_ = false;
  std::string session_id_;  // empty: none is running
  std::optional<FoxgloveFeed> feed_;
  std::map<std::uint32_t, FoxgloveChannel> subscriptions_;  // by the client's numbers
};

}  // namespace service
