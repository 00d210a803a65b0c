#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "proto/framing/frame.hpp"
#include "proto/service.pb.h"

namespace test_support {

/// A connection to the service made of plain system calls, which can misbehave in every way.
class SocketClient {
 public:
  /// Connects to 127.0.0.1, from another address of 127.0.0.0/8 if one is given; connected() tells
  /// whether that worked.
  explicit SocketClient(std::uint16_t port, const char* from = "127.0.0.1");
  /// Connects to a Unix socket.
  explicit SocketClient(const std::string& path);
  ~SocketClient();
  SocketClient(SocketClient&& other) noexcept;
  SocketClient& operator=(SocketClient&&) = delete;

  bool connected() const { return socket_ >= 0; }

  /// Sends bytes as they are. False when the service has closed the connection.
  bool send_bytes(std::string_view bytes);
  bool send(const rigcal::v1::ServiceRequest& request);

  /// From now on send_bytes() is false when the service takes nothing for so long.
  void give_up_sending_after(double timeout_s);

  /// Sends nothing more, and can still receive.
  void half_close();

  /// The next reply; nothing after the timeout or at the end of the connection.
  std::optional<rigcal::v1::ServiceReply> receive(double timeout_s = 20.0);

  /// Drops whatever has arrived. @return how many bytes that was, 0 after the timeout
  std::size_t discard(double timeout_s);

  /// A request and its reply; notifications in between are kept out.
  rigcal::v1::ServiceReply call(const rigcal::v1::ServiceRequest& request, double timeout_s = 20.0);

  /// Introduces itself as a client. False if that was refused.
  bool greet();

  /// True once the service has closed the connection.
  bool closed_by_service(double timeout_s);

 private:
  bool fill(double timeout_s);

  int socket_ = -1;
  bool ended_ = false;
  std::string input_;
};

/// The frame of a request, length included.
std::string request_frame(const rigcal::v1::ServiceRequest& request);

/// The secret that open_request gives a session.
std::string secret_of(const std::string& session_id);

rigcal::v1::ServiceRequest open_request(const std::string& session_id,
                                        const std::string& hinges = "arm,pendulum",
                                        std::int64_t epoch_unix_ns = 1'700'000'000'000'000'000);
rigcal::v1::ServiceRequest close_request(std::uint64_t last_batch);

/// Batch `sequence` of a made-up run: `sample_count` samples that follow those of the batch before,
/// every field different from sample to sample, and a command each.
rigcal::v1::ServiceRequest batch_request(std::uint64_t sequence, std::uint64_t sample_count = 20);

}  // namespace test_support
