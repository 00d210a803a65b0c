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

/// Address of the service as given by the user; TLS is used if TLS files are given.
struct ServiceAddress {
  std::string host_port = proto::default_service_place();  ///< or "unix:/PATH"
  proto::TlsFiles tls;
};

/// A checked service address with its TLS files loaded.
struct ServiceEndpoint {
  std::string host_port;  ///< as given by the user, for messages
  proto::ServiceLocation place;
  std::shared_ptr<asio::ssl::context> tls;  ///< null: none
};

/// @throws proto::InputError for an invalid address, or naming the unusable TLS file
ServiceEndpoint make_service_endpoint(const ServiceAddress& address);

/// The service cannot be reached, or the connection was lost.
class ConnectionFault : public proto::InputError {
 public:
  using InputError::InputError;
};

/// A blocking connection to a service.
class ServiceSocket {
 public:
  /// @throws ConnectionFault if the service cannot be reached or its certificate does not match
  explicit ServiceSocket(const ServiceEndpoint& endpoint);
  ~ServiceSocket();
  ServiceSocket(const ServiceSocket&) = delete;
  ServiceSocket& operator=(const ServiceSocket&) = delete;

  /// @throws ConnectionFault if the connection breaks
  void write(std::string_view bytes);

  /// Waits for bytes. @return the number of bytes read; 0 after the timeout
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
