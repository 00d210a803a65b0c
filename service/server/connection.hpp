#pragma once

#include <array>
#include <asio/ssl/stream.hpp>
#include <asio/steady_timer.hpp>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "proto/framing/frame.hpp"
#include "service/server/conversation.hpp"
#include "service/server/listen.hpp"
#include "service/server/sessions/service_context.hpp"

namespace service {

/// Time limits for a client's connection to the service [s].
struct ConnectionTimeouts {
  std::chrono::duration<double> handshake{10.0};  ///< from connecting to the first valid message
  std::chrono::duration<double> frame{20.0};      ///< from the first to the last byte of a message
  std::chrono::duration<double> write{30.0};  ///< longest time in which the client reads nothing
};

/// A client's connection: its socket, with or without TLS, and the conversation over this socket.
/// The connection reads requests only as fast as the service answers them and the client reads the
/// replies. Memory use is therefore bounded per connection, per identity and in total.
class Connection final : public FrameSink, public std::enable_shared_from_this<Connection> {
 public:
  /// @param ended  called once, when the connection has closed its socket
  Connection(ServiceContext& context, StreamSocket socket, asio::ssl::context* tls,
             ConnectionTimeouts timeouts, std::shared_ptr<Conversation> conversation,
             std::function<void(Connection*)> ended);

  void start();

  /// Closes the socket at once.
  /// @param why  reason, for the log
  void abort(const std::string& why);

  const std::string& identity() const { return conversation_->identity(); }
  /// Returns true if the client has sent a valid first message and the connection still has pending
  /// work.
  bool is_in_use() const { return conversation_->has_valid_greeting() && !lingering_; }

  /// Returns true if a newer connection of the same client may replace this connection, because the
  /// service waits for the client: either for the next request, or for samples of a rig computer.
  bool is_replaceable() const { return is_in_use() && conversation_->waits_for_client(); }

  /// Returns the sort key for the replacement of connections. Connections that sent only a greeting
  /// come first, in each group the connection that has been inactive longest.
  std::pair<bool, std::chrono::steady_clock::time_point> replacement_order() const {
    return {message_count_ > 1, last_active_};
  }

  void send(std::string frame) override;
  bool can_queue(std::size_t bytes) const override;
  void send_live_update(const LiveFrame& frame) override;
  void close_after_sending() override;
  void resume_reading() override;

 private:
  using Clock = std::chrono::steady_clock;

  template <typename Use>
  void visit_stream(const Use& use);
  void read();
  void on_bytes_received(std::size_t count);
  void process_frames();
  void write();
  void on_bytes_sent(std::size_t count);
  void wait_for_client_to_close();
  void watch();
  void reserve_memory(std::size_t bytes);
  void release_memory(std::size_t bytes);
  void update_input_memory();
  void close();

  ServiceContext& context_;
  StreamSocket socket_;
  std::optional<asio::ssl::stream<StreamSocket&>> tls_;
  ConnectionTimeouts timeouts_;
  std::shared_ptr<Conversation> conversation_;
  std::function<void(Connection*)> ended_;
  asio::steady_timer timer_;

  std::array<std::uint8_t, 64 << 10> input_;
  proto::FrameDecoder decoder_;
  std::deque<proto::Frame> frames_;
  std::optional<proto::Error> framing_error_;  // a framing error after the queued frames
  bool reading_ = false;
  bool paused_ = false;  // by this side; the client's timeout is suspended
  bool out_of_buffer_ =
      false;  // paused because its identity's buffers are full; the timeout runs on
  bool processing_frames_ = false;
  bool finishing_ = false;
  bool lingering_ = false;
  bool closed_ = false;

  std::size_t held_bytes_ = 0;   // charged to the identity in the context
  std::size_t input_bytes_ = 0;  // the part that is received but not answered yet

  std::deque<std::string> control_;
  std::size_t control_bytes_ = 0;
  std::deque<LiveFrame> live_;
  std::size_t live_bytes_ = 0;
  std::uint64_t dropped_batches_ = 0;
  std::uint64_t dropped_samples_ = 0;
  std::string writing_;  // empty: no write in progress
  std::shared_ptr<const std::string> writing_live_;

  std::uint64_t message_count_ = 0;  // received from the client
  Clock::time_point connected_at_ = Clock::now();
  Clock::time_point last_active_ = Clock::now();  // last received or sent anything
  Clock::time_point frame_began_at_{};            // zero: between frames
  Clock::time_point write_began_at_{};
  Clock::time_point lingering_since_{};
};

}  // namespace service
