#include <gtest/gtest.h>

#include "firmware_iface/link/baud_budget.hpp"
#include "firmware_iface/open/open_transport.hpp"
#include "firmware_iface/transport/url.hpp"
#include "tests/support/refusal.hpp"

namespace {

using namespace firmware_iface;
using test_support::expect_parts;

// The table of PROTOCOL.md: which format fits which line at 1 kHz with two channels.
TEST(BaudBudget, AgreesWithTheProtocolsTable) {
  const auto fits = [](int baud_rate, bool compact, double rate_Hz = 1000.0) {
    return compute_baud_budget(baud_rate, {2, rate_Hz, compact}).fits;
  };
  EXPECT_EQ(compute_baud_budget(921'600, {2, 1000.0, false}).frame_size_bytes, 30);
  EXPECT_EQ(compute_baud_budget(921'600, {2, 1000.0, true}).frame_size_bytes, 21);
  EXPECT_FALSE(fits(115'200, false));
  EXPECT_FALSE(fits(115'200, true));
  EXPECT_TRUE(fits(115'200, true, 500.0));
  EXPECT_FALSE(fits(230'400, false));
  EXPECT_TRUE(fits(230'400, true));
  EXPECT_TRUE(fits(460'800, false));
  EXPECT_TRUE(fits(921'600, false));
  const auto full = [](int encoders, int motors, bool marks) {
    return compute_baud_budget(921'600, {encoders, 1000.0, false, 0, motors, marks});
  };
  EXPECT_EQ(full(6, 6, false).frame_size_bytes, 56);
  EXPECT_EQ(full(16, 8, true).frame_size_bytes, 104);
  EXPECT_TRUE(full(12, 6, false).fits);
  // Exactly the allowed share of the line fits.
  const double rate_Hz = BaudBudget::kLineShareMax * 46'080.0 / 30.0;
  ASSERT_EQ(30.0 * rate_Hz, BaudBudget::kLineShareMax * 46'080.0);
  EXPECT_TRUE(fits(460'800, false, rate_Hz));
  EXPECT_FALSE(fits(460'800, false, 1.001 * rate_Hz));
  EXPECT_FALSE(full(16, 8, false).fits);
}

// The refusal must show its arithmetic and the remedies.
TEST(BaudBudget, RefusalShowsTheArithmeticAndTheRemedies) {
  const auto refused = check_baud_budget(230'400, {2, 1000.0, false});
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::kLineTooSlow);
  const std::string& text = refused.error().detail;
  expect_parts(text,
               {"230400 baud / 10 bits = 23.04 bytes per ms", "30 bytes per sample",
                "30.00 bytes per ms", "(130 %, at most 96 %)", "460800", "compact", "500 Hz"});
}

TEST(Url, IsParsed) {
  const auto url = parse_url("serial:///dev/ttyUSB0?baud=460800");
  ASSERT_TRUE(url.ok());
  EXPECT_EQ(url.value().scheme, "serial");
  EXPECT_EQ(url.value().address, "/dev/ttyUSB0");
  EXPECT_EQ(read_int_option(url.value(), "baud", 1, 1, 1'000'000).value(), 460'800);
  EXPECT_EQ(parse_url("sim:configs/x.textproto").value().address, "configs/x.textproto");
}

// Each mistake in a URL gets its own message, which quotes the URL.
TEST(Url, MistakesAreReported) {
  const auto complaint = [](const std::string& url) {
    const auto opened = open_transport(url);
    return opened.ok() ? std::string("opened") : opened.error().detail;
  };
  expect_parts(complaint("/dev/ttyUSB0"), {"not a URL"});
  expect_parts(complaint("usb:///dev/x"), {"serial:, pty:, tcp:, sim:"});
  expect_parts(complaint("pty:///dev/x?bawd=1"), {"bawd"});
  expect_parts(complaint("serial:///dev/x?baud=fast"), {"baud=fast"});
  for (const char* address : {"localhost", "localhost:0", "localhost:99999", "localhost:-1",
                              "localhost:7x", "localhost:", ":7000"}) {
    EXPECT_NE(
        complaint("tcp://" + std::string(address)).find("tcp://host:port, with a port number"),
        std::string::npos)
        << address;
  }
  expect_parts(complaint("pty:///nowhere/at/all"), {"no such port"});
  expect_parts(complaint("serial:///dev/rigcal-none"), {"/dev/rigcal-none"});
  expect_parts(complaint("sim:/nowhere.textproto"), {"/nowhere.textproto"});
}

}  // namespace
