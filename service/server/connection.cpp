#include "service/server/connection.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <asio/buffer.hpp>
#include <asio/write.hpp>

#include "proto/stream/service_limits.hpp"
#include "proto/tls/tls.hpp"
#include "service/server/storage/log.hpp"

namespace service {
namespace {

constexpr std::size_t kControlBytesPause = 1u << 20;   // pause reading requests above it
constexpr std::size_t kControlBytesMax = 16u << 20;    // the client never reads: close
constexpr std::size_t kRequestReserve = 16u << 10;     // for a request and an error reply
constexpr std::size_t kGuaranteedBuffer = 320u << 10;  // always allowed: one batch of a rig
constexpr std::size_t kLiveFramesMax = 256;
constexpr std::size_t kLiveBytesMax = 4u << 20;
constexpr std::chrono::milliseconds kWatchPeriod(250);
constexpr std::chrono::seconds kLinger(2);

// Sends replies without delay, and detects an unplugged peer after a minute. A Unix socket refuses
// these options and needs none of them.
void set_tcp_options(int socket) {
  const auto set = [socket](int level, int option, int value) {
    ::setsockopt(socket, level, option, &value, sizeof value);
  };
  set(IPPROTO_TCP, TCP_NODELAY, 1);
  set(SOL_SOCKET, SO_KEEPALIVE, 1);
  set(IPPROTO_TCP, TCP_KEEPIDLE, 30);
  set(IPPROTO_TCP, TCP_KEEPINTVL, 10);
  set(IPPROTO_TCP, TCP_KEEPCNT, 3);
}

}  // namespace

Connection::Connection(ServiceContext& context, StreamSocket socket, asio::ssl::context* tls,
                       ConnectionTimeouts timeouts, std::shared_ptr<Conversation> conversation,
                       std::function<void(Connection*)> ended)
    : context_(context),
      socket_(std::move(socket)),
      timeouts_(timeouts),
      conversation_(std::move(conversation)),
      ended_(std::move(ended)),
      timer_(socket_.get_executor()),
      decoder_(proto::service_request_limits()) {
  if (tls != nullptr) tls_.emplace(socket_, *tls);
  conversation_->attach_sink(*this);
}

template <typename Use>
void Connection::visit_stream(const Use& use) {
  if (tls_) {
    use(*tls_);
  } else {
    use(socket_);
  }
}

void Connection::start() {
  set_tcp_options(socket_.native_handle());
  watch();
  if (!tls_) return read();
  tls_->async_handshake(asio::ssl::stream_base::server,
                        [self = shared_from_this()](const asio::error_code& error) {
                          if (error) return self->abort("TLS handshake: " + error.message());
                          const auto name = proto::read_peer_name(self->tls_->native_handle());
                          if (name.ok()) {
                            self->conversation_->set_identity(
                                identify_certificate(name.value(), self->context_.operators));
                          } else {
                            self->conversation_->refuse_client(name.error().detail);
                          }
                          self->read();
                        });
}

// Charges memory to this connection and to its identity.
void Connection::reserve_memory(std::size_t bytes) {
  held_bytes_ += bytes;
  context_.buffers.add(identity(), bytes);
}

void Connection::release_memory(std::size_t bytes) {
  held_bytes_ -= bytes;
  context_.buffers.remove(identity(), bytes);
}

bool Connection::can_queue(std::size_t bytes) const {
  const ServiceLimits& limits = context_.limits;
  if (context_.buffers.of(identity()) + bytes <= kGuaranteedBuffer) return true;
  return context_.buffers.is_within_limits(identity(), bytes, limits.buffer_bytes,
                                           limits.limits_per_identity().buffer_bytes);
}

// Updates the charge for received but unanswered bytes.
void Connection::update_input_memory() {
  std::size_t bytes = decoder_.incomplete_frame_size();
  for (const proto::Frame& frame : frames_) bytes += frame.payload.size();
  release_memory(std::exchange(input_bytes_, bytes));
  reserve_memory(bytes);
}

// Reads more while there is room for requests and their replies.
void Connection::read() {
  if (reading_ || closed_ || finishing_ || framing_error_ || !frames_.empty()) return;
  if (!conversation_->ready() || control_bytes_ > kControlBytesPause) {
    paused_ = true;
    return;
  }
  out_of_buffer_ = !can_queue(kRequestReserve);
  if (out_of_buffer_) return;
  if (std::exchange(paused_, false) && frame_began_at_ != Clock::time_point()) {
    frame_began_at_ = Clock::now();
  }
  reading_ = true;
  visit_stream([this](auto& stream) {
    stream.async_read_some(
        asio::buffer(input_),
        [self = shared_from_this()](const asio::error_code& error, std::size_t count) {
          self->reading_ = false;
          if (error) return self->close();
          self->on_bytes_received(count);
        });
  });
}

void Connection::on_bytes_received(std::size_t count) {
  if (closed_) return;
  context_.metrics.received_bytes_total += count;
  std::vector<proto::Frame> frames;
  const proto::Status fed = decoder_.feed(std::span(input_).first(count), frames);
  if (!fed.ok()) framing_error_ = fed.error();
  last_active_ = Clock::now();
  message_count_ += frames.size();
  for (proto::Frame& frame : frames) frames_.push_back(std::move(frame));
  const bool between = decoder_.idle() || !fed.ok();
  if (between || !frames.empty()) frame_began_at_ = {};
  if (!between && frame_began_at_ == Clock::time_point()) frame_began_at_ = Clock::now();
  update_input_memory();
  process_frames();
}

void Connection::process_frames() {
  if (processing_frames_) return;
  processing_frames_ = true;
  while (!closed_ && !finishing_ && conversation_->ready() &&
         control_bytes_ <= kControlBytesPause && can_queue(kRequestReserve)) {
    if (!frames_.empty()) {
      const proto::Frame frame = std::move(frames_.front());
      frames_.pop_front();
      conversation_->on_frame(frame);
    } else if (framing_error_) {
      conversation_->on_protocol_violation(*framing_error_);
    } else {
      break;
    }
  }
  processing_frames_ = false;
  if (!closed_) update_input_memory();
  read();
}

void Connection::resume_reading() {
  const auto self = shared_from_this();
  process_frames();
}

void Connection::send(std::string frame) {
  if (closed_ || finishing_) return;
  control_bytes_ += frame.size();
  reserve_memory(frame.size());
  control_.push_back(std::move(frame));
  if (control_bytes_ > kControlBytesMax) return abort("client does not read its replies");
  write();
}

void Connection::send_live_update(const LiveFrame& frame) {
  if (closed_ || finishing_) return;
  live_bytes_ += frame.bytes->size();
  reserve_memory(frame.bytes->size());
  live_.push_back(frame);
  while (live_.size() > kLiveFramesMax || live_bytes_ > kLiveBytesMax ||
         (!live_.empty() && !can_queue(0))) {
    ++dropped_batches_;
    dropped_samples_ += live_.front().sample_count;
    ++context_.metrics.live_batches_dropped_total;
    live_bytes_ -= live_.front().bytes->size();
    release_memory(live_.front().bytes->size());
    live_.pop_front();
  }
  write();
}

void Connection::write() {
  if (closed_ || write_began_at_ != Clock::time_point()) return;
  if (!control_.empty()) {
    writing_ = std::move(control_.front());
    control_.pop_front();
  } else if (dropped_batches_ > 0) {
    writing_ = Conversation::make_dropped_updates_frame(std::exchange(dropped_batches_, 0),
                                                        std::exchange(dropped_samples_, 0));
    control_bytes_ += writing_.size();
    reserve_memory(writing_.size());
  } else if (!live_.empty()) {
    writing_live_ = std::move(live_.front().bytes);
    live_.pop_front();
  } else {
    if (finishing_) wait_for_client_to_close();
    return;
  }
  write_began_at_ = Clock::now();
  const auto bytes = writing_live_ ? asio::buffer(*writing_live_) : asio::buffer(writing_);
  visit_stream([&](auto& stream) {
    asio::async_write(
        stream, bytes,
        [self = shared_from_this()](const asio::error_code& error, std::size_t count) {
          if (error) return self->close();
          self->on_bytes_sent(count);
        });
  });
}

void Connection::on_bytes_sent(std::size_t count) {
  if (closed_) return;
  context_.metrics.sent_bytes_total += count;
  last_active_ = Clock::now();
  if (writing_live_) {
    live_bytes_ -= writing_live_->size();
    release_memory(writing_live_->size());
    writing_live_.reset();
  } else {
    control_bytes_ -= writing_.size();
    release_memory(writing_.size());
    writing_.clear();
  }
  write_began_at_ = {};
  write();
  process_frames();
}

void Connection::close_after_sending() {
  if (finishing_ || closed_) return;
  finishing_ = true;
  const std::size_t live_left = writing_live_ ? writing_live_->size() : 0;
  release_memory(live_bytes_ - live_left);
  live_.clear();
  live_bytes_ = live_left;
  dropped_batches_ = 0;
  write();
}

// Everything was sent. Closing with unread bytes of the client would make the kernel discard the
// reply (RST), so the client gets a moment to read it and to close.
void Connection::wait_for_client_to_close() {
  if (lingering_) return;
  lingering_ = true;
  lingering_since_ = Clock::now();
  asio::error_code ignored;
  socket_.shutdown(asio::socket_base::shutdown_send, ignored);
  if (reading_) return;  // its completion or the watch closes the connection
  socket_.async_read_some(asio::buffer(input_),
                          [self = shared_from_this()](const asio::error_code& error, std::size_t) {
                            if (error) return self->close();
                            self->lingering_ = false;
                            if (Clock::now() - self->lingering_since_ > kLinger)
                              return self->close();
                            const auto since = self->lingering_since_;
                            self->wait_for_client_to_close();
                            self->lingering_since_ = since;
                          });
}

void Connection::watch() {
  timer_.expires_after(kWatchPeriod);
  timer_.async_wait([self = shared_from_this()](const asio::error_code& error) {
    if (error || self->closed_) return;
    const auto now = Clock::now();
    const auto none = Clock::time_point();
    if (!self->conversation_->has_valid_greeting() &&
        now - self->connected_at_ > self->timeouts_.handshake) {
      return self->abort("no valid first message within the time limit");
    }
    if (!self->paused_ && self->frame_began_at_ != none &&
        now - self->frame_began_at_ > self->timeouts_.frame) {
      return self->abort("a message was not completed within the time limit");
    }
    if (self->write_began_at_ != none && now - self->write_began_at_ > self->timeouts_.write) {
      return self->abort("client reads nothing");
    }
    if (self->paused_ || self->out_of_buffer_)
      self->process_frames();  // other connections may have freed memory
    if (self->closed_) return;
    if (self->lingering_ && now - self->lingering_since_ > kLinger) return self->close();
    self->watch();
  });
}

void Connection::abort(const std::string& why) {
  if (closed_) return;
  log_event(LogLevel::kInfo, "connection_cut",
            {{"peer", conversation_->peer().place}, {"why", why}});
  ++context_.metrics.connections_refused_total["cut"];
  close();
}

void Connection::close() {
  if (closed_) return;
  const auto self = shared_from_this();  // ended_ drops the last reference
  closed_ = true;
  asio::error_code ignored;
  socket_.close(ignored);
  timer_.cancel();
  release_memory(held_bytes_);
  conversation_->on_disconnected();
  ended_(this);
}

}  // namespace service
