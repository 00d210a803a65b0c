#include "daq/stream/service_endpoint.hpp"

#include "proto/text/input_error.hpp"
#include "proto/tls/tls.hpp"

namespace daq {

ServiceEndpoint make_service_endpoint(const ServiceOptions& options) {
  ServiceEndpoint endpoint{options.host_port, proto::parse_service_address(options.host_port),
                           nullptr};
  if (proto::has_tls_certificate(options.tls)) {
    if (!endpoint.place.unix_path.empty()) {
      throw proto::InputError(
          options.host_port +
          ": a Unix socket has no TLS; omit --tls-cert, --tls-key and --tls-ca");
    }
    endpoint.tls = std::make_shared<asio::ssl::context>(proto::make_client_tls(options.tls));
  }
  return endpoint;
}

}  // namespace daq
