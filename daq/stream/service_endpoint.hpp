#pragma once

#include <memory>
#include <string>

#include "proto/text/host_port.hpp"
#include "proto/tls/tls_files.hpp"

namespace asio::ssl {
class context;
}

namespace daq {

/// Where the operator says the service is. Without a certificate it is spoken to in plain TCP.
struct ServiceOptions {
  std::string host_port;  ///< "host:port" or "unix:/path"; empty: nowhere
  proto::TlsFiles tls{};
};

/// The same, checked, with its files read.
struct ServiceEndpoint {
  std::string host_port;  ///< as it was given, for people
  proto::ServicePlace place;
  std::shared_ptr<asio::ssl::context> tls;  ///< null: none
};

/// @throws proto::InputError for what is no such place, or naming the file of TLS that cannot be
/// used
ServiceEndpoint make_service_endpoint(const ServiceOptions& options);

}  // namespace daq
