#pragma once

#include <memory>
#include <string>

#include "proto/text/host_port.hpp"
#include "proto/tls/tls_files.hpp"

namespace asio::ssl {
class context;
}

namespace daq {

/// Address and TLS files of the service, as given by the user. Without a certificate the connection
/// does not use TLS.
struct ServiceOptions {
  std::string host_port;  ///< "host:port" or "unix:/path"; empty: no service
  proto::TlsFiles tls{};
};

/// Address of the service after its checks, with the loaded TLS files.
struct ServiceEndpoint {
  std::string host_port;  ///< as it was given, for users
  proto::ServiceLocation place;
  std::shared_ptr<asio::ssl::context> tls;  ///< null: no TLS
};

/// Checks the address of the service and loads the TLS files. @throws proto::InputError for an
/// invalid address, or
///     naming the TLS file that cannot be used
ServiceEndpoint make_service_endpoint(const ServiceOptions& options);

}  // namespace daq
