#pragma once

#include <CLI/CLI.hpp>
#include <array>
#include <deque>
#include <functional>
#include <optional>
#include <string>

#include "proto/framing/frame.hpp"
#include "proto/service.pb.h"
#include "proto/text/input_error.hpp"
#include "proto/text/printable.hpp"
#include "service/client/command.hpp"
#include "service/client/remote/service_socket.hpp"

namespace service {

/// An error reply of the service.
class ServiceFault : public proto::InputError {
 public:
  explicit ServiceFault(const rigcal::v1::ServiceError& error)
      : InputError(proto::escape_for_terminal(error.text())), code_(error.code()) {}
  rigcal::v1::ServiceError::Code code() const { return code_; }

 private:
  rigcal::v1::ServiceError::Code code_;
};

/// The client side of proto/service.proto; blocking.
class ServiceClient {
 public:
  /// Connects and sends Hello.
  /// @throws ConnectionFault if the service cannot be reached, ServiceFault if it refuses
  explicit ServiceClient(const ServiceEndpoint& endpoint);

  /// Sends a request and waits for its reply; keeps notifications that arrive before it.
  /// @throws ServiceFault, proto::InputError
  rigcal::v1::ServiceReply call(const rigcal::v1::ServiceRequest& request);

  /// Returns the next notification, or nothing after the timeout.
  std::optional<rigcal::v1::ServiceReply> wait(int timeout_ms);

  /// Reads a file of the service part by part, in order.
  /// @param request  makes the request for the part at an offset
  void read_file(const std::function<rigcal::v1::ServiceRequest(std::uint64_t offset)>& request,
                 const std::function<void(const rigcal::v1::FilePart&)>& take);

 private:
  std::optional<rigcal::v1::ServiceReply> receive(int timeout_ms);

  ServiceSocket socket_;
  proto::FrameDecoder decoder_;
  std::deque<proto::Frame> frames_;
  std::deque<rigcal::v1::ServiceReply> notifications_;
  std::array<std::uint8_t, 64 << 10> input_;
};

/// Adds --server and the TLS options. Environment variables give the defaults: RIGCAL_SERVER,
/// RIGCAL_TLS_CERT, RIGCAL_TLS_KEY, RIGCAL_TLS_CA. `address` must outlive the parsing. @return
/// --server
CLI::Option* add_service_options(CLI::App& command, ServiceAddress& address);

/// Runs a command's work. Prints errors of the service and returns kServiceTrouble for them.
/// @throws proto::InputError for an invalid address or unusable TLS files
ExitCode with_service(const ServiceAddress& address,
                      const std::function<ExitCode(ServiceClient&)>& work);

/// Prints proto3 JSON with every field, as calibration_json writes it.
void print_json(const google::protobuf::Message& message);

}  // namespace service
