#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "proto/framing/frame.hpp"
#include "proto/service.pb.h"

namespace test_support {

/// A connection to the service by plain system calls, which can violate the protocol in any way.
class SocketClient {
 public:
  /// Connects to 127.0.0.1, from another address of 127.0.0.0/8 if one is given; connected()
  /// reports success.
  explicit SocketClient(std::uint16_t port, const char* from = "127.0.0.1");
  /// Connects to a Unix socket.
  explicit SocketClient(const std::string& path);
  ~SocketClient();
  SocketClient(SocketClient&& other) noexcept;
  SocketClient& operator=(SocketClient&&) = delete;

  bool connected() const { return socket_ >= 0; }

  /// Sends raw bytes. Returns false if the service has closed the connection.
  bool send_bytes(std::string_view bytes);
  bool send(const rigcal::v1::ServiceRequest& request);

  /// Makes send_bytes() return false, from now on, if the service accepts nothing for `timeout_s`.
  void give_up_sending_after(double timeout_s);

  /// Ends sending, and can still receive.
  void half_close();

  /// Returns the next reply; nullopt after the timeout or at the end of the connection.
  std::optional<rigcal::v1::ServiceReply> receive(double timeout_s = 20.0);

  /// Drops all received bytes. @return their number, 0 after the timeout
  std::size_t discard(double timeout_s);

  /// Returns the received bytes up to a text; without the text, up to the timeout or the end of the
  /// connection.
  std::string receive_until(const std::string& text, double timeout_s = 20.0);

  /// Sends a request and returns its reply; notifications in between are skipped.
  rigcal::v1::ServiceReply call(const rigcal::v1::ServiceRequest& request, double timeout_s = 20.0);

  /// Introduces itself as a client. Returns false if the service refuses it.
  bool greet();

  /// Waits for the service to close the connection. Returns false after the timeout.
  bool closed_by_service(double timeout_s);

 private:
  bool fill(double timeout_s);

  int socket_ = -1;
  bool ended_ = false;
  std::string input_;
};

/// A connection that has introduced itself as a client. The test fails if the service refuses it.
class GreetedClient : public SocketClient {
 public:
  explicit GreetedClient(std::uint16_t port, const char* from = "127.0.0.1");
  explicit GreetedClient(const std::string& path);
};

/// A rig's connection that has opened a session. The test fails if the service refuses it.
class StreamingClient : public SocketClient {
 public:
  StreamingClient(std::uint16_t port, const std::string& session_id);
};

/// Returns the frame of a request, with its length prefix.
std::string request_frame(const rigcal::v1::ServiceRequest& request);

/// Returns the secret that open_request gives a session.
std::string secret_of(const std::string& session_id);

/// Returns a request about one session or job, e.g. about(&ServiceRequest::mutable_end_session,
/// id).
template <typename Part>
rigcal::v1::ServiceRequest about(Part* (rigcal::v1::ServiceRequest::*part)(),
                                 const std::string& id) {
  rigcal::v1::ServiceRequest request;
  if constexpr (requires(Part& each) { each.set_job_id(id); }) {
    (request.*part)()->set_job_id(id);
  } else {
    (request.*part)()->set_session_id(id);
  }
  return request;
}

rigcal::v1::ServiceRequest open_request(const std::string& session_id,
                                        const std::string& joints = "arm,pendulum",
                                        std::int64_t epoch_unix_ns = 1'700'000'000'000'000'000);
rigcal::v1::ServiceRequest close_request(std::uint64_t last_batch);
rigcal::v1::ServiceRequest hello_request();
rigcal::v1::ServiceRequest list_request();
rigcal::v1::ServiceRequest inspect_request(const std::string& session_id);
rigcal::v1::ServiceRequest subscribe_request(const std::string& session_id);
rigcal::v1::ServiceRequest end_request(const std::string& session_id);
rigcal::v1::ServiceRequest delete_request(const std::string& session_id);
rigcal::v1::ServiceRequest read_request(const std::string& session_id, std::uint64_t offset = 0);
rigcal::v1::ServiceRequest upload_request(const std::string& session_id, std::uint64_t size_bytes,
                                          const std::string& file_name = "a.csv");
rigcal::v1::ServiceRequest part_request(const std::string& session_id, std::uint64_t offset,
                                        const std::string& data);
/// Returns a job that calibrates a session with configs/rig-pendulum.textproto.
rigcal::v1::ServiceRequest submit_request(const std::string& job_id, const std::string& session_id);

/// Returns batch `sequence` of an artificial run: `sample_count` samples that follow the previous
/// batch, with every field different from sample to sample, and a command each.
rigcal::v1::ServiceRequest batch_request(std::uint64_t sequence, std::uint64_t sample_count = 20);

}  // namespace test_support
