#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "proto/result.hpp"

namespace rigcal::v1 {
class StreamReply;
}

namespace proto {

using Nanoseconds = std::chrono::nanoseconds;

/// Rig computer's side of the protocol of proto/stream.proto. It has no sockets and clocks: its
/// owner passes events to it and performs the requested actions.
///
///   loop:  if (dialog.wants_connection(now)) connect, then on_connected or on_disconnected
///          while connected: write everything next_request(now) yields, pass replies to on_reply;
///          if (dialog.wants_disconnect(now)) close the connection, then on_disconnected
class StreamDialog {
 public:
  virtual ~StreamDialog() = default;

  virtual void on_connected(Nanoseconds now) = 0;
  virtual void on_disconnected(Nanoseconds now) = 0;
  /// Processes a reply of the service. Returns errors of the batch store; the same reply may then
  /// be passed again later.
  virtual Status on_reply(const rigcal::v1::StreamReply& reply, Nanoseconds now) = 0;

  /// Returns whether the owner should connect or reconnect to the service now.
  virtual bool wants_connection(Nanoseconds now) const = 0;
  /// Returns whether the owner must close the connection, because the service is silent or violates
  /// the protocol, or because the dialog has ended.
  virtual bool wants_disconnect(Nanoseconds now) const = 0;

  /// Returns the next frame to write, with its length prefix; empty if there is nothing to send
  /// now. Call it until it returns nothing.
  virtual Result<std::optional<std::string>> next_request(Nanoseconds now) = 0;

  /// Returns whether the first reply on the current connection is pending.
  virtual bool awaits_first_reply() const = 0;
  /// Returns whether the dialog has reached its end.
  virtual bool is_done() const = 0;
  virtual const std::string& latest_problem() const = 0;  ///< message for users
};

}  // namespace proto
