#include "daq/stream/service_endpoint.hpp"

#include <charconv>
#include <string_view>

#include "proto/text/input_error.hpp"
#include "proto/tls/tls.hpp"

namespace daq {

bool is_host_port(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos || colon == 0) return false;
  const std::string_view host = std::string_view(text).substr(0, colon);
  const bool bracketed = host.front() == '[' && host.back() == ']';
  if (!bracketed && host.find(':') != std::string_view::npos) return false;
  int port = 0;
  const char* const end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data() + colon + 1, end, port);
  return parsed.ec == std::errc() && parsed.ptr == end && port >= 1 && port <= 65535;
}

ServiceEndpoint make_service_endpoint(const ServiceOptions& options) {
  if (!is_host_port(options.host_port)) {
    throw proto::InputError("--service " + options.host_port +
                            ": write host:port, as in 127.0.0.1:7330");
  }
  ServiceEndpoint endpoint{options.host_port, nullptr};
  if (!options.tls.certificate.empty()) {
    endpoint.tls = std::make_shared<asio::ssl::context>(proto::make_client_tls(options.tls));
  }
  return endpoint;
}

}  // namespace daq
