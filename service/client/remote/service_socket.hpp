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

/// Where an operator says the service is. With files of TLS it is spoken to over that.
struct ServiceAddress {
  std::string host_port = proto::default_service_place();  ///< or "unix:/PATH"
  proto::TlsFiles tls;
};

/// The same, checked, with its files read.
struct ServiceEndpoint {
  std::string host_port;  ///< as it was given, for people
  proto::ServicePlace place;
  std::shared_ptr<asio::ssl::context> tls;  ///< null: none
};

/// @throws proto::InputError for what is no address, or naming the file of TLS that cannot be used
ServiceEndpoint make_service_endpoint(const ServiceAddress& address);

/// The service cannot be reached, or not any more.
class ConnectionFault : public proto::InputError {
 public:
  using InputError::InputError;
};

/// A blocking connection to a service.
class ServiceSocket {
 public:
  /// @throws ConnectionFault when the service cannot be reached or is not the one it should be
  explicit ServiceSocket(const ServiceEndpoint& endpoint);
  ~ServiceSocket();
  ServiceSocket(const ServiceSocket&) = delete;
  ServiceSocket& operator=(const ServiceSocket&) = delete;

  /// @throws ConnectionFault when the connection breaks
  void write(std::string_view bytes);

  /// Waits for bytes. @return how many came; 0 after the timeout
  /// @throws ConnectionFault when the connection ends
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
  bool heard_ = false;  // anything from the service
  std::unique_ptr<ssl_st, SessionDeleter> tls_;
};

}  // namespace service
