#include "proto/text/host_port.hpp"

#include <gtest/gtest.h>

#include "proto/text/input_error.hpp"
#include "tests/support/refusal.hpp"

namespace proto {
namespace {

TEST(HostPort, AcceptsNamesAndAddressesWithAPort) {
  EXPECT_EQ(parse_host_port("localhost:1").host, "localhost");
  EXPECT_EQ(parse_host_port("127.0.0.1:65535").port, 65535);
  EXPECT_EQ(parse_host_port("[::1]:0").host, "::1");
}

// The system's libraries read port 65536 as 0 and 99999 as 34463.
TEST(HostPort, RefusesInvalidPorts) {
  for (const char* bad : {"", "host", ":80", "host:", "host:-1", "host:65536", "host:99999",
                          "host:8x", "host:http", "::1:80"}) {
    EXPECT_THROW(static_cast<void>(parse_host_port(bad)), InputError) << bad;
  }
}

TEST(HostPort, ExplainsTheAddressFormat) {
  const auto reported = [](const std::string& text) {
    return test_support::refusal([&] { static_cast<void>(parse_service_place(text)); });
  };
  test_support::expect_parts(reported("http://x"),
                             {"\"http://x\" is not an address: remove http://",
                              "write HOST:PORT or unix:/PATH, e.g. 127.0.0.1"});
  test_support::expect_parts(reported("rig:x"), {"a port is a number", "HOST:PORT or unix:/PATH"});
  EXPECT_EQ(test_support::refusal([] { static_cast<void>(parse_host_port("rig:x")); }).find("unix"),
            std::string::npos);
}

}  // namespace
}  // namespace proto
