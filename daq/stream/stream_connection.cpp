#include "daq/stream/stream_connection.hpp"

#include <asio/buffer.hpp>
#include <asio/connect.hpp>
#include <asio/write.hpp>
#include <cassert>
#include <charconv>
#include <span>
#include <string_view>

#include "daq/realtime/periodic_timer.hpp"
#include "proto/stream.pb.h"
#include "proto/stream/stream_limits.hpp"
#include "proto/text/input_error.hpp"

namespace daq {
namespace {

constexpr std::chrono::milliseconds kAttendPeriod(10);

}  // namespace

bool StreamConnection::is_host_port(const std::string& host_port) {
  const std::size_t colon = host_port.rfind(':');
  if (colon == std::string::npos || colon == 0) return false;
  const std::string_view host = std::string_view(host_port).substr(0, colon);
  const bool bracketed = host.front() == '[' && host.back() == ']';
  if (!bracketed && host.find(':') != std::string_view::npos) return false;
  int port = 0;
  const char* const end = host_port.data() + host_port.size();
  const auto parsed = std::from_chars(host_port.data() + colon + 1, end, port);
  return parsed.ec == std::errc() && parsed.ptr == end && port >= 1 && port <= 65535;
}

StreamConnection::StreamConnection(proto::StreamSender& sender, const std::string& host_port)
    : sender_(sender), where_(host_port), resolver_(context_) {
  assert(is_host_port(host_port));
  const std::size_t colon = host_port.rfind(':');
  host_ = host_port.substr(0, colon);
  if (host_.front() == '[') host_ = host_.substr(1, host_.size() - 2);
  port_ = host_port.substr(colon + 1);
}

void StreamConnection::run_for(std::chrono::milliseconds duration) {
  const auto end = std::chrono::steady_clock::now() + duration;
  do {
    attend();
    context_.restart();
    context_.run_for(std::min(kAttendPeriod, duration));
  } while (std::chrono::steady_clock::now() < end);
}

// What the sender asks for by itself.
void StreamConnection::attend() {
  const Nanoseconds now = monotonic_now();
  if (socket_ == nullptr) {
    if (sender_.wants_connection(now)) connect();
    return;
  }
  if (sender_.wants_disconnect(now)) {
    disconnect(sender_.problem());
    return;
  }
  if (connected_ && !writing_) write();
}

void StreamConnection::connect() {
  const auto socket = socket_ = std::make_shared<Socket>(context_);
  resolver_.async_resolve(
      host_, port_, [this, socket](const asio::error_code& error, const auto& endpoints) {
        if (socket != socket_) return;
        if (error) return disconnect(error.message());
        asio::async_connect(*socket, endpoints,
                            [this, socket](const asio::error_code& failure, const auto&) {
                              if (socket != socket_) return;
                              if (failure) return disconnect(failure.message());
                              asio::error_code ignored;
                              socket->set_option(asio::ip::tcp::no_delay(true), ignored);
                              connected_ = true;
                              decoder_.emplace(proto::stream_reply_limits());
                              sender_.on_connected(monotonic_now());
                              read();
                              write();
                            });
      });
}

void StreamConnection::disconnect(const std::string& why) {
  if (!why.empty()) problem_ = where_ + ": " + why;
  asio::error_code ignored;
  if (socket_ != nullptr) socket_->close(ignored);
  socket_.reset();
  connected_ = writing_ = false;
  sender_.on_disconnected(monotonic_now());
}

void StreamConnection::write() {
  const auto next = sender_.next_request(monotonic_now());
  if (!next.ok()) return disconnect(next.error().detail);
  if (!next.value()) return;
  request_ = *next.value();
  writing_ = true;
  asio::async_write(*socket_, asio::buffer(request_),
                    [this, socket = socket_](const asio::error_code& error, std::size_t) {
                      if (socket != socket_) return;
                      writing_ = false;
                      if (error) return disconnect(error.message());
                      write();
                    });
}

void StreamConnection::read() {
  socket_->async_read_some(
      asio::buffer(received_),
      [this, socket = socket_](const asio::error_code& error, std::size_t size_bytes) {
        if (socket != socket_) return;
        if (error) return disconnect(error.message());
        take_replies(size_bytes);
        if (socket == socket_) read();
      });
}

void StreamConnection::take_replies(std::size_t size_bytes) {
  std::vector<proto::Frame> frames;
  const proto::Status fed = decoder_->feed(std::span(received_).first(size_bytes), frames);
  for (const proto::Frame& frame : frames) {
    rigcal::v1::StreamReply reply;
    if (const auto status = proto::parse_frame(frame, proto::stream_reply_limits(), reply);
        !status.ok()) {
      return disconnect(status.error().detail);
    }
    if (const auto status = sender_.on_reply(reply, monotonic_now()); !status.ok()) {
      return disconnect(status.error().detail);
    }
  }
  if (!fed.ok()) disconnect(fed.error().detail);
}

void require_host_port(const std::string& service) {
  if (StreamConnection::is_host_port(service)) return;
  throw proto::InputError("--service " + service + ": write host:port, as in 127.0.0.1:7420");
}

}  // namespace daq
