#pragma once

#include <array>
#include <asio/executor_work_guard.hpp>
#include <asio/generic/stream_protocol.hpp>
#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "daq/stream/service_endpoint.hpp"
#include "proto/framing/frame.hpp"
#include "proto/stream/stream_sender.hpp"

namespace daq {

/// The connection below a StreamSender, TCP, TLS over it, or a Unix socket: connects when it asks,
/// carries its requests and its replies, and drops the line when either side misbehaves. For one
/// thread, which calls `run_for`.
class StreamConnection {
 public:
  StreamConnection(proto::StreamSender& sender, ServiceEndpoint endpoint);
  ~StreamConnection();

  /// Does whatever there is to do for so long.
  void run_for(std::chrono::milliseconds duration);

  /// The latest trouble of the connection with where it went, for people; empty when there was
  /// none.
  const std::string& problem() const { return problem_; }

 private:
  struct Line;

  void attend();
  void connect();
  void connect_to(std::vector<asio::generic::stream_protocol::endpoint> endpoints,
                  std::size_t index);
  void shake_hands();
  void ready();
  void read();
  void write();
  void disconnect(const std::string& why);
  std::string reason_of(const asio::error_code& error) const;
  void take_replies(std::size_t size_bytes);

  proto::StreamSender& sender_;
  ServiceEndpoint endpoint_;
  asio::io_context context_;
  // Between two tries nothing is under way: without it the context would not wait but return.
  asio::executor_work_guard<asio::io_context::executor_type> waiting_{context_.get_executor()};
  asio::ip::tcp::resolver resolver_;
  // Shared with its pending operations: those of a line that was dropped see that it is not the
  // current one any more.
  std::shared_ptr<Line> line_;
  std::chrono::nanoseconds connecting_since_{};
  bool connected_ = false;
  bool writing_ = false;
  std::string request_;
  std::array<std::uint8_t, 4096> received_{};
  std::optional<proto::FrameDecoder> decoder_;
  std::string problem_;
};

}  // namespace daq
