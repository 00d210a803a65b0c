#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "service/server/storage/session_log.hpp"
#include "service/server/storage/store_recording.hpp"
#include "tests/proto/recording_support.hpp"
#include "tests/service/server/socket_client.hpp"
#include "tests/service/server/store_in_hand.hpp"

// A disk that fails to write once, under the service's store: tests/support/failing_disk.c
// overrides libc here. Lost data must not be acknowledged.

namespace service {
namespace {

using namespace test_support;
using rigcal::v1::ServiceError;
using rigcal::v1::ServiceReply;
using rigcal::v1::UploadState;

class ServiceDisk : public ::testing::Test {
 protected:
  void SetUp() override { ::setenv("RIGCAL_FAILING_DISK", switch_.c_str(), 1); }
  void TearDown() override { ::unsetenv("RIGCAL_FAILING_DISK"); }
  void fail_next() const { std::ofstream{switch_}; }
  bool has_failed() const { return !std::filesystem::exists(switch_); }

  /// Final replies to a new connection that opens session "run" and sends these batches.
  std::vector<ServiceReply> stream(const std::vector<std::uint64_t>& batches) {
    std::vector<ServiceReply> replies;
    {
      ClientInHand rig(store_, kAnna);
      replies.push_back(rig.call(open_request("run")));
      for (const std::uint64_t batch : batches) {
        replies.push_back(rig.call(batch_request(batch)));
      }
    }
    store_.drain();
    return replies;
  }

  ReplyOrError<UploadState> open_upload() { return store_.open_upload("file", kAnna, 6); }
  ReplyOrError<UploadState> append(std::uint64_t offset, const std::string& data) {
    return store_.append_upload("file", kAnna, offset, data);
  }

  StoreInHand store_;
  std::string switch_ = store_.files.file("fail");
};

// A batch whose fsync failed is refused, not acknowledged, and is due again for the next connection
// that opens the session.
TEST_F(ServiceDisk, AcknowledgesNoBatchThatItLost) {
  ASSERT_TRUE(stream({}).back().has_session_opened());
  fail_next();
  const auto failed = stream({1});
  ASSERT_TRUE(has_failed());
  ASSERT_EQ(failed.size(), 2u);
  EXPECT_EQ(failed[1].session_refused().reason(), rigcal::v1::SessionRefused::REASON_STORAGE);
  const auto again = stream({1, 2});
  ASSERT_EQ(again.size(), 3u);
  EXPECT_EQ(again[0].session_opened().acknowledged_through(), 0u);
  EXPECT_EQ(again[1].acknowledge().through(), 1u);
  EXPECT_EQ(again[2].acknowledge().through(), 2u);
}

// After a failed write no byte of the file is trusted: a second fsync would report lost data as
// durable.
TEST_F(ServiceDisk, RestartsAnUploadAfterALoss) {
  ASSERT_EQ(fault_of(open_upload()).code(), 0);
  ASSERT_EQ(std::get<UploadState>(append(0, "ab")).durable_bytes(), 2u);
  fail_next();
  EXPECT_EQ(fault_of(append(2, "cd")).code(), ServiceError::STORAGE);
  ASSERT_TRUE(has_failed());
  const auto again = open_upload();
  ASSERT_EQ(fault_of(again).code(), 0);
  EXPECT_EQ(std::get<UploadState>(again).durable_bytes(), 0u);
  const auto whole = append(0, "abcdef");
  ASSERT_EQ(fault_of(whole).code(), 0);
  EXPECT_TRUE(std::get<UploadState>(whole).complete());
  const auto path = store_.sessions->recording_path("file");
  EXPECT_EQ(text_of(std::get<std::string>(path)), "abcdef");
}

// The stored recording is read back before its log is deleted, even if every call has succeeded. If
// it is faulty, the log stays, and another attempt makes the recording from it.
TEST_F(ServiceDisk, KeepsTheLogOfARecordingThatDoesNotReadBack) {
  const std::string folder = store_.files.file("run");
  const std::string log_path = session_log_folder(folder);
  {
    auto log = require(SessionLog::open(log_path, {2}, 1 << 30));
    const auto batch = [](std::uint64_t number) {
      return batch_request(number).sample_batch().SerializeAsString();
    };
    ASSERT_TRUE(log.append_durably({batch(1), batch(2)}).ok());
  }
  const auto store = [&] { return store_recording(folder, furuta_header(), {.batch_count = 2}); };
  std::ofstream{switch_} << "lie";
  const auto lost = store();
  ASSERT_TRUE(has_failed());
  ASSERT_FALSE(lost.ok());
  EXPECT_TRUE(std::filesystem::exists(log_path));
  EXPECT_FALSE(std::filesystem::exists(folder + "/recording.mcap"));

  const auto whole = require(store());
  EXPECT_EQ(whole.sample_count, 40u);
  EXPECT_EQ(whole.problem, "");
  EXPECT_FALSE(std::filesystem::exists(log_path));
}

}  // namespace
}  // namespace service
