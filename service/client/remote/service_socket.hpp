#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace service {

/// Where a service is and how it is spoken to.
struct ServiceAddress {
  std::string host_port = "127.0.0.1:7330";
  std::string certificate;  ///< of this client, PEM; with the two below: TLS
  std::string private_key;
  std::string authority;  ///< that signed the service's certificate
};

/// A blocking connection to a service, with TLS where the address has certificates.
class ServiceSocket {
 public:
  /// @throws proto::InputError when the service cannot be reached or is not the one it should be
  explicit ServiceSocket(const ServiceAddress& address);
  ~ServiceSocket();
  ServiceSocket(const ServiceSocket&) = delete;
  ServiceSocket& operator=(const ServiceSocket&) = delete;

  /// @throws proto::InputError when the connection breaks
  void write(std::string_view bytes);

  /// Waits for bytes. @return how many came; 0 after the timeout
  /// @throws proto::InputError when the connection ends
  std::size_t read(std::span<std::uint8_t> bytes, int timeout_ms);

 private:
  struct Tls;

  [[noreturn]] void fail(const std::string& what) const;

  std::string where_;
  int socket_ = -1;
  std::unique_ptr<Tls> tls_;
};

}  // namespace service
