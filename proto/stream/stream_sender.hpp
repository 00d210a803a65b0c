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

/// What the service is told when a session opens.
struct StreamSession {
  std::string id;  ///< see is_session_id
  std::map<std::string, std::string> metadata{};
  std::int64_t epoch_unix_ns = 0;
  std::string secret{};  ///< that opens it again; empty: the service makes one
};

struct StreamSenderOptions {
  std::uint64_t window = 32;  ///< batches sent and not acknowledged, at most
  Nanoseconds reply_timeout = std::chrono::seconds(10);
  Nanoseconds retry_delay_min =
      std::chrono::milliseconds(200);  ///< doubles until a batch is acknowledged
  Nanoseconds retry_delay_max = std::chrono::seconds(10);
};

/// The sender's side of proto/stream.proto, without sockets or clocks: its owner tells it what
/// happened and does what it asks for. Batches come from a BatchStore and stay there until they
/// are acknowledged, so whatever happens to the connection or to either process, each one arrives
/// at least once, in order.
///
///   loop:  if (sender.wants_connection(now)) connect, then on_connected or on_disconnected
///          while connected: write everything next_request(now) yields, pass replies to on_reply;
///          if (sender.wants_disconnect(now)) close the connection, then on_disconnected
class StreamSender {
 public:
  enum class State {
    kDisconnected,
    kOpening,  ///< OpenSession was or will be sent
    kStreaming,
    kClosing,  ///< CloseSession was sent
    kDone,     ///< everything is durable at the service, and it knows that nothing follows
    kRefused,  ///< permanently; problem() says why. The batches stay in the store
  };

  StreamSender(BatchStore& store, StreamSession session, StreamSenderOptions options = {});

  /// No batch will be appended any more: once all are acknowledged the session is closed.
  /// @param interrupted  the recorder died, so that nobody declared the end of the run
  void end_session(bool interrupted = false) {
    ending_ = true;
    interrupted_ = interrupted;
  }

  void on_connected(Nanoseconds now);
  void on_disconnected(Nanoseconds now);
  /// @return an error of the store, after which the same reply may be given again later
  Status on_reply(const rigcal::v1::StreamReply& reply, Nanoseconds now);

  /// Time to connect (again).
  bool wants_connection(Nanoseconds now) const;

  /// The service is silent or does not keep to the protocol.
  bool wants_disconnect(Nanoseconds now) const;

  /// The next frame to write, length prefix included; nothing while there is nothing to send or
  /// the window is full. Call it until it yields nothing.
  Result<std::optional<std::string>> next_request(Nanoseconds now);

  State state() const { return state_; }
  const std::string& problem() const { return problem_; }  ///< latest trouble, for people
  std::uint64_t resent_count() const { return resent_count_; }

 private:
  void opened(std::uint64_t acknowledged_through);
  Status acknowledged(std::uint64_t through);
  void violate(const std::string& what);
  void refuse(const std::string& why);
  Result<std::optional<std::string>> open_request();
  Result<std::optional<std::string>> close_request();
  Result<std::optional<std::string>> batch_request();

  BatchStore& store_;
  StreamSession session_;
  StreamSenderOptions options_;
  State state_ = State::kDisconnected;
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
