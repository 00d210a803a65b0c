#include "service/server/storage/store_recording.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "proto/recording/recording_reader.hpp"
#include "service/server/storage/checksums.hpp"
#include "service/server/storage/session_log.hpp"
#include "tests/proto/recording_support.hpp"
#include "tests/service/server/socket_client.hpp"
#include "tests/support/refusal.hpp"

namespace service {
namespace {

using namespace test_support;
using rigcal::v1::SampleBatch;
using test_support::TemporaryFolder;

SampleBatch batch(std::uint64_t sequence) { return batch_request(sequence).sample_batch(); }

// A session's folder with a log of these batches, unchecked, as left by an earlier release.
class Stored : public ::testing::Test {
 protected:
  void write_log(const std::vector<SampleBatch>& batches) {
    auto log = require(SessionLog::open(session_log_folder(folder_.file("run")), {2}, 1 << 30));
    std::vector<std::string> bytes;
    for (const SampleBatch& each : batches) bytes.push_back(each.SerializeAsString());
    ASSERT_TRUE(ok(log.append_durably(bytes)));
  }

  proto::Result<StoredRecording> store(const StoreRecordingRequest& order) {
    return store_recording(folder_.file("run"), furuta_header(), order);
  }

  proto::Recording read() {
    auto recording = proto::read_recording(folder_.file("run/recording.mcap"));
    EXPECT_TRUE(ok(recording));
    return recording.ok() ? recording.value() : proto::Recording();
  }

  bool log_is_there() const {
    return std::filesystem::exists(session_log_folder(folder_.file("run")));
  }

  TemporaryFolder folder_;
};

TEST_F(Stored, MatchesTheLog) {
  write_log({batch(1), batch(2)});
  const auto stored = require(store({.batch_count = 2}));
  EXPECT_EQ(stored.sample_count, 40u);
  EXPECT_EQ(stored.problem, "");
  EXPECT_FALSE(log_is_there());
  // Again, as after a crash before the session's record was written.
  const auto again = require(store({.batch_count = 2}));
  EXPECT_EQ(again.sample_count, 40u);

  const std::string path = folder_.file("run/recording.mcap");
  EXPECT_TRUE(ok(check_checksum(path)));
  std::ofstream(path, std::ios::app) << 'x';
  EXPECT_FALSE(check_checksum(path).ok()) << "damaged later";
}

// A batch that once could not be stored in any way: one sample is 2.5 ms too early. In order of
// time the samples would be out of sequence. Valid ones are stored, the rest reported, and the log
// kept.
TEST_F(Stored, OmitsASampleWhoseTimeGoesBack) {
  SampleBatch poison = batch(2);
  auto& early = *poison.mutable_samples(10);
  early.set_timestamp(early.timestamp() - 2.5e-3);
  write_log({batch(1), poison, batch(3)});
  const auto stored = require(store({.batch_count = 3}));
  EXPECT_EQ(stored.sample_count, 59u);
  expect_parts(stored.problem, {"1 message", "times must not decrease"});
  EXPECT_TRUE(log_is_there());
  const proto::Recording recording = read();
  EXPECT_EQ(recording.samples.size(), 59u);
  EXPECT_EQ(recording.scan.unreadable_count, 0u);
  ASSERT_EQ(recording.gaps.size(), 1u);
  EXPECT_EQ(recording.gaps[0].first_sequence, 30u);
  ASSERT_EQ(recording.events.size(), 1u);
  EXPECT_EQ(recording.events[0].text, stored.problem);
}

// Data lost by the disk cost nothing else.
TEST_F(Stored, KeepsAllThatTheDiskHas) {
  write_log({batch(1), batch(2), batch(3)});
  const std::string file = session_log_folder(folder_.file("run")) + "/00000000000000000001.spool";
  std::filesystem::resize_file(file, std::filesystem::file_size(file) - 1);
  const auto stored = require(store({.batch_count = 3}));
  EXPECT_EQ(stored.sample_count, 40u);
  EXPECT_NE(stored.problem.find("batch 3 is missing on"), std::string::npos) << stored.problem;
}

// Messages far apart in time must not take a chunk each: a session's recording stays within a few
// times the size of its batches.
TEST_F(Stored, IsNotMuchLargerThanItsMessages) {
  SampleBatch sparse;
  sparse.set_batch_sequence(1);
  for (int k = 0; k < 10'000; ++k) sparse.add_loop_stats()->set_timestamp(k);
  write_log({sparse});
  const std::uint64_t size = sparse.ByteSizeLong();
  const auto stored = require(store({.batch_count = 1}));
  EXPECT_LT(stored.size_bytes, 6 * size + 20'000);  // headers, index, schemas
}

template <typename Message>
void replace_command(Message& message, double value) {
  message.clear_command();
  message.add_command(value);
}

// Both sides of each rule: the last allowed value is stored, the first beyond is refused on
// arrival, and so is NaN.
TEST(BatchValidator, AcceptsExactlyWhatCanBeStored) {
  struct Case {
    const char* name;
    std::function<void(SampleBatch&)> change;
    const char* reason;  // empty: valid
  };
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  const std::vector<Case> cases = {
      {"as it is", [](auto&) {}, ""},
      {"same time", [](auto& b) { b.mutable_samples(3)->set_timestamp(b.samples(2).timestamp()); },
       ""},
      {"time back",
       [](auto& b) {
         b.mutable_samples(3)->set_timestamp(std::nextafter(b.samples(2).timestamp(), -1.0));
       },
       "times must not decrease"},
      {"time back across batches", [](auto& b) { b.mutable_samples(0)->set_timestamp(0.0189); },
       "times must not decrease"},
      {"time none", [](auto& b) { b.mutable_samples(3)->set_timestamp(kNaN); }, "has the time"},
      {"time far", [](auto& b) { b.mutable_samples(19)->set_timestamp(1.1e9); }, "has the time"},
      {"repeated sample", [](auto& b) { b.mutable_samples(3)->set_sequence(22); }, "must increase"},
      {"sample back", [](auto& b) { b.mutable_samples(3)->set_sequence(21); }, "must increase"},
      {"repeated across batches", [](auto& b) { b.mutable_samples(0)->set_sequence(19); },
       "must increase"},
      {"last number", [](auto& b) { b.mutable_samples(19)->set_sequence(proto::kSequenceMax - 1); },
       ""},
      {"beyond the last number",
       [](auto& b) { b.mutable_samples(19)->set_sequence(proto::kSequenceMax); }, "must be below"},
      {"unit's time", [](auto& b) { b.mutable_samples(3)->set_device_time_us(INT64_MIN); },
       "unit's time"},
      {"one channel",
       [](auto& b) {
         auto& sample = *b.mutable_samples(3);
         sample.mutable_angle_rad()->RemoveLast();
         sample.mutable_encoder_counts()->RemoveLast();
         sample.mutable_valid()->RemoveLast();
       },
       "1 channels"},
      {"uneven", [](auto& b) { b.mutable_samples(3)->clear_valid(); }, "differ in length"},
      {"angle none", [](auto& b) { b.mutable_samples(3)->set_angle_rad(0, kNaN); }, "angle nan"},
      {"angle none where not valid",
       [](auto& b) {
         b.mutable_samples(3)->set_angle_rad(0, kNaN);
         b.mutable_samples(3)->set_valid(0, false);
       },
       ""},
      {"output none", [](auto& b) { replace_command(*b.mutable_samples(3), HUGE_VAL); }, "inf"},
      {"command none", [](auto& b) { replace_command(*b.mutable_commands(3), kNaN); }, "nan"},
      {"gap", [](auto& b) { b.add_gaps()->set_sample_count(proto::kSequenceMax); }, ""},
      {"gap too long", [](auto& b) { b.add_gaps()->set_sample_count(proto::kSequenceMax + 1); },
       "the gap"},
      {"gap of half of all numbers",
       [](auto& b) { b.add_gaps()->set_sample_count(std::uint64_t{1} << 63); }, "the gap"},
      {"gap that ends nowhere",
       [](auto& b) {
         b.add_gaps()->set_first_sequence(UINT64_MAX);
         b.mutable_gaps(0)->set_sample_count(2);
       },
       "the gap"},
      {"gap's time", [](auto& b) { b.add_gaps()->set_timestamp(kNaN); }, "has the time"},
      {"event's time", [](auto& b) { b.add_events()->set_timestamp(-HUGE_VAL); }, "has the time"},
      {"rate none", [](auto& b) { b.add_clock_fits()->set_rate_error_ppm(kNaN); }, "rate"},
      {"clock's time", [](auto& b) { b.add_clock_fits()->set_timestamp(kNaN); }, "has the time"},
      {"loop's time", [](auto& b) { b.add_loop_stats()->set_timestamp(1e300); }, "has the time"},
      {"last batch", [](auto& b) { b.set_batch_sequence(kBatchCountMax); }, ""},
      {"beyond the last batch", [](auto& b) { b.set_batch_sequence(kBatchCountMax + 1); },
       "at most"},
  };
  for (const Case& each : cases) {
    SCOPED_TRACE(each.name);
    BatchValidator check({2});
    ASSERT_EQ(check.validate_and_add(batch(1)), std::nullopt);
    SampleBatch changed = batch(2);
    each.change(changed);
    const auto fault = check.validate_and_add(changed);
    EXPECT_EQ(fault.has_value(), each.reason[0] != '\0') << fault.value_or("");
    EXPECT_NE(fault.value_or("").find(each.reason), std::string::npos) << fault.value_or("");
    // A refused batch leaves no trace, an accepted one does.
    const auto good = check.validate_and_add(batch(2));
    EXPECT_EQ(good.has_value(), !fault.has_value());
    if (fault) continue;
    // Accepted data are stored completely.
    const TemporaryFolder folder;
    auto log = SessionLog::open(session_log_folder(folder.file("run")), {2}, 1 << 30);
    changed.set_batch_sequence(2);
    ASSERT_TRUE(ok(
        log.value().append_durably({batch(1).SerializeAsString(), changed.SerializeAsString()})));
    const auto stored = store_recording(folder.file("run"), furuta_header(), {.batch_count = 2});
    ASSERT_TRUE(ok(stored));
    EXPECT_EQ(stored.value().problem, "");
    EXPECT_EQ(stored.value().sample_count, 40u);
  }
}

}  // namespace
}  // namespace service
