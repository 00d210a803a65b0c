#include "proto/text/host_port.hpp"

#include <sys/un.h>

#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <string_view>

#include "proto/text/input_error.hpp"

namespace proto {

namespace {

/// @param forms  accepted forms of an address, for the message
NetworkAddress parse_address(const std::string& text, const std::string& forms) {
  const auto fail = [&](const std::string& why) {
    throw InputError("\"" + text + "\" is not an address: " + why + "; write " + forms);
  };
  if (const std::size_t scheme = text.find("://"); scheme != std::string::npos) {
    fail("remove " + text.substr(0, scheme) + ":// before the host");
  }
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos || colon + 1 == text.size()) fail("the port is missing");
  if (colon == 0) fail("the host is missing");
  std::string_view host = std::string_view(text).substr(0, colon);
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') {
    host = host.substr(1, host.size() - 2);
  } else if (host.find(':') != std::string_view::npos) {
    fail("write an IPv6 address in brackets");
  }
  NetworkAddress parsed{std::string(host), 0};
  const char* const end = text.data() + text.size();
  const auto number = std::from_chars(text.data() + colon + 1, end, parsed.port);
  if (number.ec != std::errc() || number.ptr != end) fail("a port is a number from 0 to 65535");
  return parsed;
}

}  // namespace

NetworkAddress parse_host_port(const std::string& text) {
  return parse_address(text, "HOST:PORT, e.g. 127.0.0.1:7330");
}

ServiceLocation parse_service_address(const std::string& text) {
  constexpr std::string_view kUnix = "unix:";
  if (!text.starts_with(kUnix)) {
    return {parse_address(text, "HOST:PORT or unix:/PATH, e.g. 127.0.0.1:7330"), ""};
  }
  ServiceLocation place;
  place.unix_path = text.substr(kUnix.size());
  const auto fail = [&](const std::string& why) {
    throw InputError(
        "{:?} is not an address: {}; write unix:/PATH, e.g. unix:/run/rigcald/rigcald.sock", text,
        why);
  };
  if (!place.unix_path.starts_with('/')) fail("the path of a socket begins with /");
  constexpr std::size_t kPathMax = sizeof(sockaddr_un::sun_path) - 1;
  if (place.unix_path.size() > kPathMax || place.unix_path.find('\0') != std::string::npos) {
    fail("the path of a socket has at most " + std::to_string(kPathMax) + " characters");
  }
  return place;
}

std::string account_service_address() {
  const char* const folder = std::getenv("XDG_RUNTIME_DIR");
  if (folder == nullptr || folder[0] != '/') return kMachineServiceAddress;
  return std::string("unix:") + folder + "/rigcald.sock";
}

std::string default_service_address() {
  const std::string own = account_service_address();
  std::error_code ignored;
  return std::filesystem::exists(parse_service_address(own).unix_path, ignored)
             ? own
             : kMachineServiceAddress;
}

}  // namespace proto
