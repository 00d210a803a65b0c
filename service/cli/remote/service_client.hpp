#pragma once

#include <CLI/CLI.hpp>
#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "proto/framing/frame.hpp"
#include "proto/service.pb.h"
#include "proto/text/host_port.hpp"
#include "proto/text/input_error.hpp"
#include "proto/text/printable.hpp"
#include "proto/tls/tls_files.hpp"
#include "service/cli/command.hpp"

namespace service {

/// Address of the service as the user gives it. The connection uses TLS if TLS files are given.
struct ServiceAddress {
  std::string host_port = proto::default_service_address();  ///< "HOST:PORT" or "unix:/PATH"
  proto::TlsFiles tls;
};

struct ServiceEndpoint;
class ServiceSocket;

/// Exception that is thrown for an error reply of the service.
class ServiceReplyError : public proto::InputError {
 public:
  explicit ServiceReplyError(const rigcal::v1::ServiceError& error)
      : InputError(proto::escape_for_terminal(error.text())), code_(error.code()) {}
  rigcal::v1::ServiceError::Code code() const { return code_; }

 private:
  rigcal::v1::ServiceError::Code code_;
};

/// Client of the calibration service that uses the protocol proto/service.proto. All functions wait
/// for the service.
class ServiceClient {
 public:
  /// Connects to the service and sends the first message, Hello.
  /// @param endpoint  must outlive the client
  /// @throws ServiceReplyError if the service refuses, proto::InputError if it cannot be reached
  explicit ServiceClient(const ServiceEndpoint& endpoint);
  ~ServiceClient();

  /// Sends a request and returns the service's reply. Notifications that arrive before the reply
  /// are stored; wait() returns them later.
  /// @throws ServiceReplyError for an error reply, proto::InputError for other failures
  rigcal::v1::ServiceReply call(const rigcal::v1::ServiceRequest& request);

  /// Sends a request that contains at most the id of a job or session.
  /// @param kind  e.g. &ServiceRequest::mutable_cancel_job
  template <typename Message>
  rigcal::v1::ServiceReply call(Message* (rigcal::v1::ServiceRequest::*kind)(),
                                const std::string& id = "") {
    rigcal::v1::ServiceRequest request;
    [[maybe_unused]] Message& message = *(request.*kind)();
    if constexpr (requires { message.set_job_id(id); }) message.set_job_id(id);
    if constexpr (requires { message.set_session_id(id); }) message.set_session_id(id);
    return call(request);
  }

  /// Returns the next notification of the service, or nullopt if none arrives before the timeout.
  std::optional<rigcal::v1::ServiceReply> wait(int timeout_ms);

  /// Reads a file from the service in parts, from start to end.
  /// @param request  returns the request for the part at an offset [byte]
  /// @param take     receives each part
  void read_file(const std::function<rigcal::v1::ServiceRequest(std::uint64_t offset)>& request,
                 const std::function<void(const rigcal::v1::FilePart&)>& take);

 private:
  std::optional<rigcal::v1::ServiceReply> receive_reply(int timeout_ms);

  std::unique_ptr<ServiceSocket> socket_;
  proto::FrameDecoder decoder_;
  std::deque<proto::Frame> frames_;
  std::deque<rigcal::v1::ServiceReply> notifications_;
  std::array<std::uint8_t, 64 << 10> input_;
};

/// Adds the option --server and the TLS options to a command. Defaults come from the environment
/// variables RIGCAL_SERVER, RIGCAL_TLS_CERT, RIGCAL_TLS_KEY and RIGCAL_TLS_CA. `address` must
/// outlive the parsing.
/// @return the option --server
CLI::Option* add_service_options(CLI::App& command, ServiceAddress& address);

/// Connects to the service and calls `work`, the body of a command. Prints errors of the service,
/// and returns kServiceTrouble for them.
/// @throws proto::InputError for an invalid address or unusable TLS files
ExitCode run_with_service(const ServiceAddress& address,
                          const std::function<ExitCode(ServiceClient&)>& work);

/// Prints a message as proto3 JSON with all fields, in the format of calibration_json.
void print_message_json(const google::protobuf::Message& message);

/// Formats a time since 1970 as local time to the second; "-" for 0.
std::string format_local_time(std::int64_t unix_ns);

}  // namespace service
