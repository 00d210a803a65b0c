#pragma once

#include <array>
#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "proto/framing/frame.hpp"
#include "proto/stream/stream_sender.hpp"

namespace daq {

/// The TCP connection below a StreamSender: connects when it asks, carries its requests and its
/// replies, and drops the line when either side misbehaves. For one thread, which calls `run_for`.
class StreamConnection {
 public:
  /// @param host_port  "host:port"
  StreamConnection(proto::StreamSender& sender, const std::string& host_port);

  /// Does whatever there is to do for so long.
  void run_for(std::chrono::milliseconds duration);

  /// The latest trouble of the connection with where it went, for people; empty when there was
  /// none.
  const std::string& problem() const { return problem_; }

  /// False unless `host_port` has the form host:port, with a number from 1 to 65535; an IPv6
  /// address stands in brackets.
  static bool is_host_port(const std::string& host_port);

 private:
  using Socket = asio::ip::tcp::socket;

  void attend();
  void connect();
  void read();
  void write();
  void disconnect(const std::string& why);
  void take_replies(std::size_t size_bytes);

  proto::StreamSender& sender_;
  std::string where_;  // "host:port", for people
  std::string host_;
  std::string port_;
  asio::io_context context_;
  asio::ip::tcp::resolver resolver_;
  // Shared with its pending operations: those of a line that was dropped see that it is not the
  // current one any more.
  std::shared_ptr<Socket> socket_;
  bool connected_ = false;
  bool writing_ = false;
  std::string request_;
  std::array<std::uint8_t, 4096> received_{};
  std::optional<proto::FrameDecoder> decoder_;
  std::string problem_;
};

/// @throws proto::InputError unless StreamConnection::is_host_port(service)
void require_host_port(const std::string& service);

}  // namespace daq
