#include "proto/text/host_port.hpp"

#include <charconv>
#include <string_view>

#include "proto/text/input_error.hpp"

namespace proto {

HostPort parse_host_port(const std::string& text) {
  const auto fail = [&](const char* why) {
    throw InputError("'" + text + "' is no address: " + why +
                     "; write HOST:PORT, e.g. 127.0.0.1:7330");
  };
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos || colon + 1 == text.size()) fail("the port is missing");
  if (colon == 0) fail("the host is missing");
  std::string_view host = std::string_view(text).substr(0, colon);
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') {
    host = host.substr(1, host.size() - 2);
  } else if (host.find(':') != std::string_view::npos) {
    fail("an IPv6 address stands in brackets");
  }
  HostPort parsed{std::string(host), 0};
  const char* const end = text.data() + text.size();
  const auto number = std::from_chars(text.data() + colon + 1, end, parsed.port);
  if (number.ec != std::errc() || number.ptr != end) fail("a port is a number from 0 to 65535");
  return parsed;
}

}  // namespace proto
