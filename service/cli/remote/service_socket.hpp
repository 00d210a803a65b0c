#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "proto/text/host_port.hpp"
#include "proto/text/input_error.hpp"
#include "proto/tls/tls_files.hpp"

namespace asio::ssl {
class context;
}
struct ssl_st;  // SSL of OpenSSL

namespace service {

/// Address of the service as the user gives it. The connection uses TLS if TLS files are given.
struct ServiceAddress {
  std::string host_port = proto::default_service_place();  ///< "HOST:PORT" or "unix:/PATH"
  proto::TlsFiles tls;
};

/// Checked address of the service, with the TLS files loaded.
struct ServiceEndpoint {
  std::string host_port;  ///< address as the user gave it, for messages
  proto::ServiceLocation place;
  std::shared_ptr<asio::ssl::context> tls;  ///< null: connection without TLS
};

/// Checks the address of a service and loads the TLS files.
/// @throws proto::InputError for an invalid address or an unusable TLS file
ServiceEndpoint make_service_endpoint(const ServiceAddress& address);

/// Exception for a service that cannot be reached and for a lost connection.
class ConnectionFault : public proto::InputError {
 public:
  using InputError::InputError;
};

/// Blocking connection to a service.
class ServiceSocket {
 public:
  /// Connects to the service.
  /// @throws ConnectionFault if it cannot be reached or its certificate does not match
  explicit ServiceSocket(const ServiceEndpoint& endpoint);
  ~ServiceSocket();
  ServiceSocket(const ServiceSocket&) = delete;
  ServiceSocket& operator=(const ServiceSocket&) = delete;

  /// Sends all bytes.
  /// @throws ConnectionFault if the connection breaks
  void write(std::string_view bytes);

  /// Waits for bytes and reads them.
  /// @return number of bytes read; 0 after the timeout
  /// @throws ConnectionFault if the connection ends
  std::size_t read(std::span<std::uint8_t> bytes, int timeout_ms);

 private:
  struct SessionDeleter {
    void operator()(ssl_st* session) const;
  };

  void shake_hands();
  std::string tls_trouble(int result) const;
  [[noreturn]] void fail(const std::string& what) const;

  ServiceEndpoint endpoint_;
  int socket_ = -1;
  bool received_any_ = false;  // something was received from the service
  std::unique_ptr<ssl_st, SessionDeleter> tls_;
};

}  // namespace service
