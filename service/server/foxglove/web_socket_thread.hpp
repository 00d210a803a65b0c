#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "service/server/http_message.hpp"
#include "service/server/sessions/task_thread.hpp"

namespace service {

/// Runs WebSocket connections (RFC 6455) by Boost.Beast on a thread of its own, so that slow
/// viewers do not delay the main thread. A connection that reads slowly loses binary messages.
class WebSocketThread {
 public:
  struct Handlers {
    std::function<void(std::uint64_t connection, const std::string& text)> on_text;
    std::function<void(std::uint64_t connection)> on_closed;
  };

  /// Bytes that a connection may leave unread before it loses binary messages.
  static constexpr std::size_t kUnreadMax = 4u << 20;
  static constexpr std::size_t kTextMax = 64u << 10;  ///< size of a message of the client [byte]

  /// @param main      runs tasks on the main thread
  /// @param handlers  called on the main thread
  WebSocketThread(Poster main, Handlers handlers);
  ~WebSocketThread();

  /// Takes over a connection whose client sent the request to upgrade to WebSocket.
  /// @param descriptor  socket, of which a duplicate is used
  /// @param protocol    subprotocol to accept
  /// @return number of the connection; 0 if the socket cannot be used
  std::uint64_t accept(int descriptor, const HttpRequest& request, const std::string& protocol);

  void send_text(std::uint64_t connection, std::string text);
  void send_binary(std::uint64_t connection, std::string bytes);
  void close(std::uint64_t connection);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Returns whether a request asks to upgrade the connection to WebSocket.
bool is_web_socket_upgrade(const HttpRequest& request);

}  // namespace service
