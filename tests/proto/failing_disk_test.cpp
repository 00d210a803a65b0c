#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "proto/stream/spool.hpp"
#include "tests/proto/recording_support.hpp"

// A disk that fails to write: tests/support/failing_disk.c overrides calls of libc here.

namespace proto {
namespace {

using namespace test_support;

std::string payload_of(std::uint64_t sequence) {
  return std::string(100, static_cast<char>('a' + sequence % 20));
}

class FailingDisk : public ::testing::Test {
 protected:
  void SetUp() override { ::setenv("RIGCAL_FAILING_DISK", switch_.c_str(), 1); }
  void TearDown() override { ::unsetenv("RIGCAL_FAILING_DISK"); }
  void fail_next() const { std::ofstream{switch_}; }
  bool has_failed() const { return !std::filesystem::exists(switch_); }

  // Expects every durable batch to be in the spool, unchanged.
  static void expect_whole(Spool& spool) {
    for (std::uint64_t k = 1; k < spool.durable_batch_end(); ++k) {
      const auto payload = require(spool.read(k));
      ASSERT_EQ(payload, payload_of(k)) << k;
    }
  }

  test_support::TemporaryFolder folder_;
  std::string switch_ = folder_.file("fail");
};

// A second fsync after a failed one succeeds but proves nothing. Data lost by the first must never
// be reported as durable, and older durable data stay so. When opened again, the spool continues
// from the disk's real content.
TEST_F(FailingDisk, IsNotTrustedAfterAFailedSync) {
  auto spool = require(Spool::open(folder_.file("spool")));
  for (std::uint64_t k = 1; k <= 5; ++k) ASSERT_TRUE(ok(spool.append(payload_of(k))));
  ASSERT_TRUE(ok(spool.sync()));
  for (std::uint64_t k = 6; k <= 9; ++k) ASSERT_TRUE(ok(spool.append(payload_of(k))));
  fail_next();
  EXPECT_FALSE(spool.sync().ok());
  ASSERT_TRUE(has_failed());
  EXPECT_FALSE(spool.sync().ok());
  EXPECT_FALSE(spool.append(payload_of(10)).ok());
  EXPECT_EQ(spool.durable_batch_end(), 6u);
  expect_whole(spool);

  spool = require(Spool::open(folder_.file("spool")));
  EXPECT_EQ(spool.durable_batch_end(), 6u);
  for (std::uint64_t k = 6; k <= 12; ++k) ASSERT_TRUE(ok(spool.append(payload_of(k))));
  ASSERT_TRUE(ok(spool.sync()));
  EXPECT_EQ(spool.durable_batch_end(), 13u);
  expect_whole(spool);
}

// The same for the fsync that ends a full file: append() has failed, and a later sync() must not
// report success.
TEST_F(FailingDisk, IsNotTrustedAtTheEndOfAFile) {
  const SpoolLimits limits{.segment_size_bytes = 1000};
  auto spool = require(Spool::open(folder_.file("spool"), limits));
  std::uint64_t count = 0;
  fail_next();
  while (spool.append(payload_of(count + 1)).ok()) {
    ++count;
    ASSERT_LT(count, 20u);
  }
  ASSERT_TRUE(has_failed());
  EXPECT_FALSE(spool.sync().ok());
  EXPECT_EQ(spool.durable_batch_end(), 1u);
  spool = require(Spool::open(folder_.file("spool"), limits));
  expect_whole(spool);
  const std::uint64_t first = spool.end();
  for (std::uint64_t k = first; k <= 30; ++k) ASSERT_TRUE(ok(spool.append(payload_of(k))));
  ASSERT_TRUE(ok(spool.sync()));
  expect_whole(spool);
}

// On a disk that still fails, the spool must not open: it could make nothing durable.
TEST_F(FailingDisk, IsNotOpenedWhileItFails) {
  {
    auto spool = require(Spool::open(folder_.file("spool")));
    ASSERT_TRUE(ok(spool.append(payload_of(1))));
  }
  fail_next();
  EXPECT_FALSE(Spool::open(folder_.file("spool")).ok());
  ASSERT_TRUE(has_failed());
  auto spool = require(Spool::open(folder_.file("spool")));
  EXPECT_EQ(spool.durable_batch_end(), 1u);
}

}  // namespace
}  // namespace proto
