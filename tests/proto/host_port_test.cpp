#include "proto/text/host_port.hpp"

#include <gtest/gtest.h>

#include "proto/text/input_error.hpp"

namespace proto {
namespace {

TEST(HostPort, TakesNamesAndAddressesWithAPort) {
  EXPECT_EQ(parse_host_port("localhost:1").host, "localhost");
  EXPECT_EQ(parse_host_port("127.0.0.1:65535").port, 65535);
  EXPECT_EQ(parse_host_port("[::1]:0").host, "::1");
}

// The libraries of the system take a port of 65536 for 0 and one of 99999 for 34463.
TEST(HostPort, RefusesWhatIsNone) {
  for (const char* bad : {"", "host", ":80", "host:", "host:-1", "host:65536", "host:99999",
                          "host:8x", "host:http", "::1:80"}) {
    EXPECT_THROW(static_cast<void>(parse_host_port(bad)), InputError) << bad;
  }
}

}  // namespace
}  // namespace proto
