#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "proto/result.hpp"
#include "proto/stream/batch_store.hpp"

namespace rigcal::v1 {
class StreamReply;
}

namespace proto {

using Nanoseconds = std::chrono::nanoseconds;

/// Data of the OpenSession message.
struct StreamSession {
  std::string id;  ///< see is_valid_session_id
  std::map<std::string, std::string> metadata{};
  std::int64_t epoch_unix_ns = 0;
  std::string secret{};  ///< needed to reopen it; empty: the service creates one
};

struct StreamSenderOptions {
  std::uint64_t window = 32;  ///< largest number of unacknowledged batches
  Nanoseconds reply_timeout = std::chrono::seconds(10);
  Nanoseconds retry_delay_min =
      std::chrono::milliseconds(200);  ///< doubles until a batch is acknowledged
  Nanoseconds retry_delay_max = std::chrono::seconds(10);
};

/// Sender of batches to the service by the protocol of proto/stream.proto. It has no sockets and
/// clocks: its owner passes in events and performs the requested actions. Batches remain in a
/// BatchStore until the service has acknowledged them. So every batch arrives at least once, in
/// order, whatever happens to the connection or to either process.
///
///   loop:  if (sender.wants_connection(now)) connect, then on_connected or on_disconnected
///          while connected: write everything next_request(now) yields, pass replies to on_reply;
///          if (sender.wants_disconnect(now)) close the connection, then on_disconnected
class StreamSender {
 public:
  enum class SenderState {
    kDisconnected,
    kOpening,  ///< OpenSession was or will be sent
    kStreaming,
    kClosing,  ///< CloseSession was sent
    kDone,     ///< everything is durable at the service, and the session is closed
    kRefused,  ///< permanently, see latest_problem(); the batches remain in the store
  };

  StreamSender(BatchStore& store, StreamSession session, StreamSenderOptions options = {});

  /// Declares that no batch will follow. The session is closed once the service has acknowledged
  /// all batches.
  /// @param interrupted  the recorder died before it recorded the end of the run
  void end_session(bool interrupted = false) {
    ending_ = true;
    interrupted_ = interrupted;
  }

  void on_connected(Nanoseconds now);
  void on_disconnected(Nanoseconds now);
  /// Processes a reply of the service. Returns an error of the store; the same reply may then be
  ///     passed again later.
  Status on_reply(const rigcal::v1::StreamReply& reply, Nanoseconds now);

  /// Returns whether the owner should connect or reconnect to the service now.
  bool wants_connection(Nanoseconds now) const;

  /// Returns whether the owner must close the connection, because the service is silent or violates
  /// the protocol.
  bool wants_disconnect(Nanoseconds now) const;

  /// Returns the next frame to write, with its length prefix; empty if there is nothing to send or
  /// the window is full. Call it until it returns nothing.
  Result<std::optional<std::string>> next_request(Nanoseconds now);

  SenderState state() const { return state_; }
  const std::string& latest_problem() const { return problem_; }  ///< latest problem, for people
  std::uint64_t resent_batch_count() const { return resent_count_; }

 private:
  void process_open_reply(std::uint64_t acknowledged_through);
  Status process_acknowledgement(std::uint64_t through);
  void report_violation(const std::string& what);
  void end_as_refused(const std::string& why);
  Result<std::optional<std::string>> make_open_request();
  Result<std::optional<std::string>> make_close_request();
  Result<std::optional<std::string>> make_batch_request();

  BatchStore& store_;
  StreamSession session_;
  StreamSenderOptions options_;
  SenderState state_ = SenderState::kDisconnected;
  bool ending_ = false;
  bool interrupted_ = false;
  bool open_sent_ = false;
  bool must_disconnect_ = false;
  std::uint64_t next_to_send_ = 1;
  std::uint64_t sent_end_ = 1;  // one past the newest batch ever sent
  std::uint64_t resent_count_ = 0;
  std::optional<Nanoseconds> waiting_since_;  // for a reply
  Nanoseconds retry_delay_;
  Nanoseconds retry_at_ = Nanoseconds::min();
  std::string problem_;
};

}  // namespace proto
