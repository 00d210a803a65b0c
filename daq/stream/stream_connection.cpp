#include "daq/stream/stream_connection.hpp"

#include <asio/buffer.hpp>
#include <asio/local/stream_protocol.hpp>
#include <asio/ssl/error.hpp>
#include <asio/ssl/stream.hpp>
#include <asio/write.hpp>
#include <span>
#include <utility>

#include "daq/realtime/timing.hpp"
#include "proto/stream.pb.h"
#include "proto/stream/service_limits.hpp"
#include "proto/tls/tls.hpp"

namespace daq {
namespace {

using asio::ip::tcp;
using RawSocket = asio::generic::stream_protocol::socket;

constexpr std::chrono::milliseconds kAttendPeriod(10);
constexpr std::chrono::seconds kConnectTimeout(10);  // for name resolution, TCP and TLS together

}  // namespace

struct StreamConnection::Socket {
  Socket(asio::io_context& context, asio::ssl::context* settings) : socket(context) {
    if (settings != nullptr) tls.emplace(socket, *settings);
  }

  template <typename Use>
  void with_stream(const Use& use) {
    if (tls) {
      use(*tls);
    } else {
      use(socket);
    }
  }

  RawSocket socket;  // TCP or Unix
  std::optional<asio::ssl::stream<RawSocket&>> tls;
};

StreamConnection::StreamConnection(proto::StreamDialog& dialog, ServiceEndpoint endpoint)
    : dialog_(dialog), endpoint_(std::move(endpoint)), resolver_(context_) {}

StreamConnection::~StreamConnection() = default;

void StreamConnection::process_events_for(std::chrono::milliseconds duration) {
  const auto end = std::chrono::steady_clock::now() + duration;
  do {
    process_dialog_requests();
    context_.run_for(std::min(kAttendPeriod, duration));
  } while (std::chrono::steady_clock::now() < end);
}

// Performs the actions that the dialog requests.
void StreamConnection::process_dialog_requests() {
  const Nanoseconds now = monotonic_now();
  if (line_ == nullptr) {
    if (dialog_.wants_connection(now)) connect();
    return;
  }
  if (dialog_.wants_disconnect(now)) {
    const bool done = dialog_.is_done();
    const std::string& why = dialog_.latest_problem();
    return disconnect(why.empty() && !done ? "the service does not respond" : why);
  }
  if (!connected_ && now - connecting_since_ >= kConnectTimeout) {
    return disconnect("no connection within " + std::to_string(kConnectTimeout.count()) + " s");
  }
  if (connected_ && !writing_) write();
}

void StreamConnection::connect() {
  connecting_since_ = monotonic_now();
  line_ = std::make_shared<Socket>(context_, endpoint_.tls.get());
  const std::string& path = endpoint_.place.unix_path;
  if (!path.empty()) return connect_to_endpoint({asio::local::stream_protocol::endpoint(path)}, 0);
  const proto::NetworkAddress& network = endpoint_.place.network;
  resolver_.async_resolve(network.host, std::to_string(network.port),
                          [this, line = line_](const asio::error_code& error, const auto& found) {
                            if (line != line_) return;
                            if (error) return disconnect(error.message());
                            std::vector<RawSocket::endpoint_type> endpoints;
                            for (const auto& entry : found) endpoints.push_back(entry.endpoint());
                            connect_to_endpoint(std::move(endpoints), 0);
                          });
}

// Tries the endpoints one after the other, and reports the error of the last one.
void StreamConnection::connect_to_endpoint(
    std::vector<asio::generic::stream_protocol::endpoint> endpoints, std::size_t index) {
  const auto endpoint = endpoints.at(index);
  line_->socket.async_connect(endpoint, [this, line = line_, endpoints = std::move(endpoints),
                                         index](const asio::error_code& error) mutable {
    if (line != line_) return;
    asio::error_code ignored;
    if (error && index + 1 < endpoints.size()) {
      line->socket.close(ignored);
      return connect_to_endpoint(std::move(endpoints), index + 1);
    }
    if (error) return disconnect(error.message());
    line->socket.set_option(tcp::no_delay(true), ignored);  // fails for a Unix socket
    start_tls();
  });
}

void StreamConnection::start_tls() {
  if (!line_->tls) return ready();
  proto::require_peer_host(line_->tls->native_handle(), endpoint_.place.network.host);
  line_->tls->async_handshake(asio::ssl::stream_base::client,
                              [this, line = line_](const asio::error_code& error) {
                                if (line != line_) return;
                                if (error) return disconnect(describe_error(error));
                                ready();
                              });
}

void StreamConnection::ready() {
  connected_ = true;
  decoder_.emplace(proto::stream_reply_limits());
  dialog_.on_connected(monotonic_now());
  read();
  write();
}

void StreamConnection::disconnect(const std::string& why) {
  if (!why.empty()) problem_ = endpoint_.host_port + ": " + why;
  asio::error_code ignored;
  if (line_ != nullptr) line_->socket.close(ignored);
  line_.reset();
  connected_ = writing_ = false;
  dialog_.on_disconnected(monotonic_now());
}

// A service with TLS answers a request without it by an alert, which is no frame, and closes the
// connection.
std::string StreamConnection::tls_advice() const {
  if (!dialog_.awaits_first_reply() || endpoint_.tls) return "";
  return "; if the service requires TLS, give --tls-cert, --tls-key and --tls-ca";
}

std::string StreamConnection::describe_error(const asio::error_code& error) const {
  const bool hung_up = error == asio::error::eof || error == asio::error::connection_reset;
  if (hung_up) return error.message() + tls_advice();
  const bool of_tls = error.category() == asio::error::get_ssl_category() ||
                      error.category() == asio::ssl::error::get_stream_category();
  if (!of_tls || !line_ || !line_->tls) return error.message();
  return proto::describe_tls_problem(line_->tls->native_handle(), error);
}

void StreamConnection::write() {
  const auto next = dialog_.next_request(monotonic_now());
  if (!next.ok()) return disconnect(next.error().detail);
  if (!next.value()) return;
  request_ = *next.value();
  writing_ = true;
  line_->with_stream([this](auto& stream) {
    asio::async_write(stream, asio::buffer(request_),
                      [this, line = line_](const asio::error_code& error, std::size_t) {
                        if (line != line_) return;
                        writing_ = false;
                        if (error) return disconnect(describe_error(error));
                        write();
                      });
  });
}

void StreamConnection::read() {
  line_->with_stream([this](auto& stream) {
    stream.async_read_some(
        asio::buffer(received_),
        [this, line = line_](const asio::error_code& error, std::size_t size_bytes) {
          if (line != line_) return;
          if (error) return disconnect(describe_error(error));
          process_replies(size_bytes);
          if (line == line_) read();
        });
  });
}

void StreamConnection::process_replies(std::size_t size_bytes) {
  std::vector<proto::Frame> frames;
  const proto::Status fed = decoder_->feed(std::span(received_).first(size_bytes), frames);
  for (const proto::Frame& frame : frames) {
    rigcal::v1::StreamReply reply;
    if (const auto status = proto::parse_frame(frame, proto::stream_reply_limits(), reply);
        !status.ok()) {
      return disconnect(status.error().detail);
    }
    if (const auto status = dialog_.on_reply(reply, monotonic_now()); !status.ok()) {
      return disconnect(status.error().detail);
    }
    // Report the service's reason before it closes the connection.
    if (dialog_.wants_disconnect(monotonic_now())) return disconnect(dialog_.latest_problem());
  }
  if (!fed.ok()) disconnect(fed.error().detail + tls_advice());
}

}  // namespace daq
