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
#include "proto/stream/stream_dialog.hpp"

namespace daq {

/// Connection to the service over TCP, TLS or a Unix socket, for a StreamDialog. Connects when the
/// dialog requests a connection, transfers requests and replies, and disconnects after an error.
/// Not thread-safe.
class StreamConnection {
 public:
  StreamConnection(proto::StreamDialog& dialog, ServiceEndpoint endpoint);
  ~StreamConnection();

  /// Processes all events of the connection for the given duration.
  void process_events_for(std::chrono::milliseconds duration);

  /// Returns the latest problem of the connection as a text for users, with the address; empty if
  /// there was none.
  const std::string& latest_problem() const { return problem_; }

 private:
  struct Socket;

  void process_dialog_requests();
  void connect();
  void connect_to_endpoint(std::vector<asio::generic::stream_protocol::endpoint> endpoints,
                           std::size_t index);
  void start_tls();
  void ready();
  void read();
  void write();
  void disconnect(const std::string& why);
  std::string tls_advice() const;
  std::string describe_error(const asio::error_code& error) const;
  void process_replies(std::size_t size_bytes);

  proto::StreamDialog& dialog_;
  ServiceEndpoint endpoint_;
  asio::io_context context_;
  // Without it the context would return at once while no operation is pending.
  asio::executor_work_guard<asio::io_context::executor_type> waiting_{context_.get_executor()};
  asio::ip::tcp::resolver resolver_;
  // Shared with its pending operations, which ignore events of a dropped connection.
  std::shared_ptr<Socket> line_;
  std::chrono::nanoseconds connecting_since_{};
  bool connected_ = false;
  bool writing_ = false;
  std::string request_;
  std::array<std::uint8_t, 4096> received_{};
  std::optional<proto::FrameDecoder> decoder_;
  std::string problem_;
};

}  // namespace daq
