#include <gtest/gtest.h>

#include "firmware_iface/open/open_transport.hpp"
#include "tests/firmware_iface/transport_bench.hpp"

// Requirements on every transport, whatever carries the bytes. The tests assert no durations: only
// that a wait ends, and not before its deadline.

namespace {

using namespace firmware_iface;
using namespace std::chrono_literals;
using transport_bench::Bench;
using transport_bench::Bytes;
using transport_bench::Kind;

class ByteTransport : public ::testing::TestWithParam<Kind> {
 protected:
  void SetUp() override {
    bench_ = GetParam().make();
    ASSERT_NE(bench_.transport, nullptr);
  }

  /// Reads until this many bytes have come, or none for five seconds.
  Bytes read(std::size_t size_bytes) {
    Bytes bytes;
    std::array<std::uint8_t, 512> buffer{};
    while (bytes.size() < size_bytes) {
      const IoResult result = transport().read_some(buffer, transport().now() + 5s);
      if (result.status != IoStatus::kOk) break;
      EXPECT_GT(result.size_bytes, 0U) << "kOk means at least one byte";
      bytes.insert(bytes.end(), buffer.begin(),
                   buffer.begin() + static_cast<std::ptrdiff_t>(result.size_bytes));
    }
    return bytes;
  }

  Transport& transport() { return *bench_.transport; }
  transport_bench::Peer& peer() { return *bench_.peer; }

  Bench bench_;
};

// All byte values: a terminal that is not raw would swallow, translate or echo some of them.
TEST_P(ByteTransport, PassesAllBytesUnchangedBothWays) {
  Bytes all;
  for (int k = 0; k < 1024; ++k) all.push_back(static_cast<std::uint8_t>(k * 7 + k / 256));
  peer().write(all);
  EXPECT_EQ(read(all.size()), all);
  ASSERT_EQ(transport().write(all).status, IoStatus::kOk);
  EXPECT_EQ(peer().read(all.size()), all);
}

TEST_P(ByteTransport, ReadReturnsWhatIsThereWithoutWaitingForMore) {
  peer().write({1, 2, 3});
  EXPECT_EQ(read(3), (Bytes{1, 2, 3}));
}

TEST_P(ByteTransport, ReadGivesUpAtItsDeadline) {
  std::array<std::uint8_t, 16> buffer{};
  const Nanoseconds deadline = transport().now() + 20ms;
  const IoResult result = transport().read_some(buffer, deadline);
  EXPECT_EQ(result.status, IoStatus::kTimeout);
  EXPECT_EQ(result.size_bytes, 0U);
  EXPECT_GE(transport().now(), deadline);
}

TEST_P(ByteTransport, PastDeadlinePolls) {
  std::array<std::uint8_t, 16> buffer{};
  EXPECT_EQ(transport().read_some(buffer, transport().now() - 1s).status, IoStatus::kTimeout);
  peer().write({42});
  EXPECT_EQ(read(1), Bytes{42});
}

// A host that stops reading must not block the other end's loop: the write returns early.
TEST_P(ByteTransport, WriteNeverWaitsForAReader) {
  const Bytes block(4096, 0x55);
  IoResult result{};
  for (int k = 0; k < 20'000 && result.status == IoStatus::kOk; ++k) {
    result = transport().write(block);
  }
  EXPECT_EQ(result.status, IoStatus::kTimeout);
  EXPECT_LT(result.size_bytes, block.size());
}

TEST_P(ByteTransport, ReportsThatTheOtherEndIsGone) {
  peer().write({7});
  EXPECT_EQ(read(1), Bytes{7});
  peer().close();
  std::array<std::uint8_t, 16> buffer{};
  EXPECT_EQ(transport().read_some(buffer, transport().now() + 5s).status, IoStatus::kClosed);
  EXPECT_EQ(transport().read_some(buffer, transport().now() + 5s).status, IoStatus::kClosed);
  // The kernel may still accept the first write to a closed socket; it must not kill this process.
  transport().write(Bytes{1});
  transport().write(Bytes{1});
}

TEST_P(ByteTransport, IsClosedAfterClose) {
  transport().close();
  std::array<std::uint8_t, 16> buffer{};
  EXPECT_EQ(transport().read_some(buffer, transport().now() + 1s).status, IoStatus::kClosed);
  EXPECT_EQ(transport().write(Bytes{1}).status, IoStatus::kClosed);
}

TEST_P(ByteTransport, DescribesItself) {
  EXPECT_FALSE(transport().report().description.empty());
  if (GetParam().name != "serial") return;
  EXPECT_EQ(transport().report().baud_rate, 921'600);
  ASSERT_EQ(transport().report().notes.size(), 3U);
  EXPECT_TRUE(transport().report().notes[0].starts_with("low_latency: not set"))
      << "a pseudo-terminal has none: " << transport().report().notes[0];
}

// Two programs on one port would each get half of the bytes.
TEST_P(ByteTransport, PortsAreHeldExclusively) {
  if (!GetParam().is_exclusive) return;
  auto second = open_transport(bench_.url);
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().code, ErrorCode::kPortBusy) << second.error().detail;
  bench_.transport.reset();
  EXPECT_TRUE(open_transport(bench_.url).ok()) << "free again after it was closed";
}

INSTANTIATE_TEST_SUITE_P(Kinds, ByteTransport, ::testing::ValuesIn(transport_bench::byte_kinds()),
                         [](const auto& test) { return test.param.name; });

}  // namespace
