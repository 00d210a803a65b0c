#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "proto/result.hpp"
#include "proto/stream/batch_store.hpp"
#include "proto/stream/live_estimate.hpp"
#include "proto/stream/stream_dialog.hpp"

namespace proto {

/// Data of the OpenSession message.
struct StreamSession {
  std::string id;  ///< see is_valid_session_id
  std::map<std::string, std::string> metadata{};
  std::int64_t epoch_unix_ns = 0;
  std::string secret{};  ///< secret to reopen the session; empty: the service creates one
  LiveRequest live{};    ///< estimates that the service should send
  bool accepts_stop = false;  ///< the owner ends the run if stop_requested_by() is not empty
};

struct StreamSenderOptions {
  std::uint64_t window = 32;  ///< largest number of unacknowledged batches
  Nanoseconds reply_timeout = std::chrono::seconds(10);
  Nanoseconds retry_delay_min =
      std::chrono::milliseconds(200);  ///< doubles until a batch is acknowledged
  Nanoseconds retry_delay_max = std::chrono::seconds(10);
};

/// Sender of batches to the service by the protocol of proto/stream.proto. Batches remain in a
/// BatchStore until the service has acknowledged them. So every batch arrives at least once and in
/// order, regardless of failures of the connection or of either process.
class StreamSender final : public StreamDialog {
 public:
  enum class SenderState {
    kDisconnected,
    kOpening,  ///< OpenSession was or will be sent
    kStreaming,
    kClosing,  ///< CloseSession was sent
    kDone,     ///< everything is durable at the service, and the session is closed
    kRefused,  ///< refused permanently, see latest_problem(); the batches remain in the store
  };

  StreamSender(BatchStore& store, StreamSession session, StreamSenderOptions options = {});

  /// Declares that no batch will follow. The session is closed once the service has acknowledged
  /// all batches.
  /// @param interrupted  the recorder ended before it recorded the end of the run
  void end_session(bool interrupted = false) {
    ending_ = true;
    interrupted_ = interrupted;
  }

  void on_connected(Nanoseconds now) override;
  void on_disconnected(Nanoseconds now) override;
  Status on_reply(const rigcal::v1::StreamReply& reply, Nanoseconds now) override;
  bool wants_connection(Nanoseconds now) const override;
  bool wants_disconnect(Nanoseconds now) const override;
  Result<std::optional<std::string>> next_request(Nanoseconds now) override;
  bool awaits_first_reply() const override { return state_ == SenderState::kOpening; }
  bool is_done() const override { return state_ == SenderState::kDone; }

  SenderState state() const { return state_; }
  const std::string& latest_problem() const override { return problem_; }
  std::uint64_t resent_batch_count() const { return resent_count_; }

  /// Returns the estimates that the service has sent since the last call, oldest first.
  std::deque<LiveEstimate> take_estimates() { return std::exchange(estimates_, {}); }
  /// Returns the reason why the requested estimates do not arrive, for users; empty if none is
  /// known.
  const std::string& live_problem() const { return live_problem_; }
  /// Returns who requested the end of the run through the service, for people; empty if nobody did.
  const std::string& stop_requested_by() const { return stop_requested_by_; }

 private:
  void process_open_reply(std::uint64_t acknowledged_through);
  Status process_acknowledgement(std::uint64_t through);
  void add_estimate(const rigcal::v1::StreamReply& reply);
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
  std::deque<LiveEstimate> estimates_;
  std::string live_problem_;
  std::string stop_requested_by_;
};

}  // namespace proto
