#pragma once

#include <memory>
#include <string>

#include "proto/tls/tls_files.hpp"

namespace asio::ssl {
class context;
}

namespace daq {

/// Where the operator says the service is. Without a certificate it is spoken to in plain TCP.
struct ServiceOptions {
  std::string host_port;  ///< "host:port"; empty: nowhere
  proto::TlsFiles tls{};
};

/// The same, checked, with its files read.
struct ServiceEndpoint {
  std::string host_port;
  std::shared_ptr<asio::ssl::context> tls;  ///< null: plain TCP
};

/// @throws proto::InputError unless is_host_port, or naming the file of TLS that cannot be used
ServiceEndpoint make_service_endpoint(const ServiceOptions& options);

/// False unless the text has the form host:port, with a number from 1 to 65535; an IPv6 address
/// stands in brackets.
bool is_host_port(const std::string& text);

}  // namespace daq
