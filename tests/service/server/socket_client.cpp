#include "tests/service/server/socket_client.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>
#include <utility>

#include "proto/recording/convert.hpp"
#include "proto/stream/content_hash.hpp"
#include "proto/stream/service_limits.hpp"
#include "tests/proto/recording_support.hpp"
#include "tests/support/source_folder.hpp"

namespace test_support {

using rigcal::v1::ServiceReply;
using rigcal::v1::ServiceRequest;

SocketClient::SocketClient(std::uint16_t port, const char* from)
    : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
  sockaddr_in source{};
  source.sin_family = AF_INET;
  source.sin_addr.s_addr = ::inet_addr(from);
  ::bind(socket_, reinterpret_cast<const sockaddr*>(&source), sizeof source);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    ::close(std::exchange(socket_, -1));
  }
}

SocketClient::SocketClient(const std::string& path) : socket_(::socket(AF_UNIX, SOCK_STREAM, 0)) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  if (::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    ::close(std::exchange(socket_, -1));
  }
}

SocketClient::~SocketClient() {
  if (socket_ >= 0) ::close(socket_);
}

SocketClient::SocketClient(SocketClient&& other) noexcept
    : socket_(std::exchange(other.socket_, -1)),
      ended_(other.ended_),
      input_(std::move(other.input_)) {}

bool SocketClient::send_bytes(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (count <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

void SocketClient::give_up_sending_after(double timeout_s) {
  const auto seconds = static_cast<time_t>(timeout_s);
  const timeval limit{seconds, static_cast<suseconds_t>(1e6 * (timeout_s - std::floor(timeout_s)))};
  ::setsockopt(socket_, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
}

void SocketClient::half_close() { ::shutdown(socket_, SHUT_WR); }

bool SocketClient::send(const ServiceRequest& request) {
  return send_bytes(request_frame(request));
}

std::string SocketClient::receive_until(const std::string& text, double timeout_s) {
  std::size_t at = std::string::npos;
  while ((at = input_.find(text)) == std::string::npos && fill(timeout_s)) continue;
  const std::size_t size = at == std::string::npos ? input_.size() : at + text.size();
  const std::string bytes = input_.substr(0, size);
  input_.erase(0, size);
  return bytes;
}

bool SocketClient::fill(double timeout_s) {
  pollfd wait{socket_, POLLIN, 0};
  if (::poll(&wait, 1, static_cast<int>(timeout_s * 1e3)) != 1) return false;
  char bytes[65536];
  const ssize_t count = ::recv(socket_, bytes, sizeof bytes, 0);
  if (count <= 0) {
    ended_ = true;
    return false;
  }
  input_.append(bytes, static_cast<std::size_t>(count));
  return true;
}

std::size_t SocketClient::discard(double timeout_s) {
  if (input_.empty()) fill(timeout_s);
  return std::exchange(input_, {}).size();
}

std::optional<ServiceReply> SocketClient::receive(double timeout_s) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(timeout_s);
  while (true) {
    if (input_.size() >= 4) {
      std::uint32_t size = 0;
      std::memcpy(&size, input_.data(), 4);
      if (input_.size() >= 4 + std::size_t{size}) {
        ServiceReply reply;
        const bool parsed = reply.ParseFromArray(input_.data() + 4, static_cast<int>(size));
        input_.erase(0, 4 + std::size_t{size});
        if (!parsed) return std::nullopt;
        return reply;
      }
    }
    const std::chrono::duration<double> left = end - std::chrono::steady_clock::now();
    if (left.count() <= 0.0 || !fill(left.count())) return std::nullopt;
  }
}

ServiceReply SocketClient::call(const ServiceRequest& request, double timeout_s) {
  if (!send(request)) return {};
  while (auto reply = receive(timeout_s)) {
    const auto type = reply->reply_case();
    const bool notification =
        type == ServiceReply::kJobUpdate || type == ServiceReply::kLiveBatch ||
        type == ServiceReply::kLiveDropped || type == ServiceReply::kLiveEnded;
    if (!notification) return *reply;
  }
  return {};
}

bool SocketClient::greet() { return call(hello_request()).has_welcome(); }

bool SocketClient::closed_by_service(double timeout_s) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(timeout_s);
  while (!ended_) {
    const std::chrono::duration<double> left = end - std::chrono::steady_clock::now();
    if (left.count() <= 0.0) return false;
    fill(left.count());
  }
  return true;
}

GreetedClient::GreetedClient(std::uint16_t port, const char* from) : SocketClient(port, from) {
  EXPECT_TRUE(greet());
}

GreetedClient::GreetedClient(const std::string& path) : SocketClient(path) { EXPECT_TRUE(greet()); }

StreamingClient::StreamingClient(std::uint16_t port, const std::string& session_id)
    : SocketClient(port) {
  EXPECT_TRUE(call(open_request(session_id)).has_session_opened());
}

std::string request_frame(const ServiceRequest& request) {
  std::string bytes;
  EXPECT_TRUE(ok(proto::append_frame(request, proto::service_request_limits(), bytes)));
  return bytes;
}

std::string secret_of(const std::string& session_id) {
  return ("secret of " + session_id + std::string(proto::kSecretSizeMax, '.'))
      .substr(0, proto::kSecretSizeMax);
}

ServiceRequest open_request(const std::string& session_id, const std::string& joints,
                            std::int64_t epoch_unix_ns) {
  ServiceRequest request;
  auto& open = *request.mutable_open_session();
  open.set_protocol_version(proto::kStreamVersion);
  open.set_session_id(session_id);
  open.set_epoch_unix_ns(epoch_unix_ns);
  (*open.mutable_metadata())["hinges"] = joints;
  (*open.mutable_metadata())["rig"] = "furuta";
  open.set_secret(secret_of(session_id));
  return request;
}

ServiceRequest close_request(std::uint64_t last_batch) {
  ServiceRequest request;
  request.mutable_close_session()->set_last_batch_sequence(last_batch);
  return request;
}

ServiceRequest hello_request() {
  ServiceRequest request;
  request.mutable_hello()->set_protocol_version(proto::kServiceVersion);
  request.mutable_hello()->set_client("test");
  return request;
}

ServiceRequest list_request() {
  ServiceRequest request;
  request.mutable_list_sessions();
  return request;
}

ServiceRequest inspect_request(const std::string& session_id) {
  return about(&ServiceRequest::mutable_inspect_session, session_id);
}

ServiceRequest subscribe_request(const std::string& session_id) {
  return about(&ServiceRequest::mutable_subscribe_session, session_id);
}

ServiceRequest end_request(const std::string& session_id) {
  return about(&ServiceRequest::mutable_end_session, session_id);
}

ServiceRequest delete_request(const std::string& session_id) {
  return about(&ServiceRequest::mutable_delete_session, session_id);
}

ServiceRequest read_request(const std::string& session_id, std::uint64_t offset) {
  ServiceRequest request = about(&ServiceRequest::mutable_read_recording, session_id);
  request.mutable_read_recording()->set_offset_bytes(offset);
  return request;
}

ServiceRequest upload_request(const std::string& session_id, std::uint64_t size_bytes,
                              const std::string& file_name) {
  ServiceRequest request = about(&ServiceRequest::mutable_open_upload, session_id);
  request.mutable_open_upload()->set_file_name(file_name);
  request.mutable_open_upload()->set_size_bytes(size_bytes);
  return request;
}

ServiceRequest part_request(const std::string& session_id, std::uint64_t offset,
                            const std::string& data) {
  ServiceRequest request = about(&ServiceRequest::mutable_upload_part, session_id);
  request.mutable_upload_part()->set_offset_bytes(offset);
  request.mutable_upload_part()->set_data(data);
  return request;
}

ServiceRequest submit_request(const std::string& job_id, const std::string& session_id) {
  constexpr const char* kRig = "rig-pendulum.textproto";
  std::ifstream file(source_folder() + "/configs/" + kRig);
  ServiceRequest request = about(&ServiceRequest::mutable_submit_job, job_id);
  auto& spec = *request.mutable_submit_job()->mutable_spec();
  spec.set_rig_name(kRig);
  spec.set_rig_text(std::string(std::istreambuf_iterator<char>(file), {}));
  spec.add_recordings()->set_session_id(session_id);
  return request;
}

ServiceRequest batch_request(std::uint64_t sequence, std::uint64_t sample_count) {
  ServiceRequest request;
  auto& batch = *request.mutable_sample_batch();
  batch.set_batch_sequence(sequence);
  for (std::uint64_t k = (sequence - 1) * sample_count; k < sequence * sample_count; ++k) {
    const proto::Sample sample = make_sample(k);
    proto::to_message(sample, *batch.add_samples());
    const proto::Command command{sample.timestamp_s,        k, 1, sample.command,
                                 {sample.command[0] + 0.5}, 1};
    proto::to_message(command, *batch.add_commands());
  }
  return request;
}

}  // namespace test_support
