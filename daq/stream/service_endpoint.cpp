#include "daq/stream/service_endpoint.hpp"

#include "proto/tls/tls.hpp"

namespace daq {

ServiceEndpoint make_service_endpoint(const ServiceOptions& options) {
  ServiceEndpoint endpoint{options.host_port, proto::parse_host_port(options.host_port), nullptr};
  if (proto::wants_tls(options.tls)) {
    endpoint.tls = std::make_shared<asio::ssl::context>(proto::make_client_tls(options.tls));
  }
  return endpoint;
}

}  // namespace daq
