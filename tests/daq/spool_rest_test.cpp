#include "daq/stream/spool_folder.hpp"

#include <gtest/gtest.h>

#include <array>
#include <fstream>
#include <numeric>
#include <sstream>

#include "daq/commands/commands.hpp"
#include "proto/recording/convert.hpp"
#include "proto/recording/recording_recover.hpp"
#include "proto/recording/recording_writer.hpp"
#include "proto/stream.pb.h"
#include "tests/daq/local_service.hpp"
#include "tests/proto/recording_support.hpp"
#include "tests/support/refusal.hpp"

namespace daq {
namespace {

using rigcal::v1::SampleBatch;
using test_support::expect_parts;
using test_support::furuta_header;
using test_support::make_sample;
using test_support::ok;

constexpr std::uint64_t kBatchSamples = 20;
constexpr std::uint64_t kPeriod = 7;  // samples from one message of the other kinds to the next

// A recorder that died: its recording holds `recorded` samples, its spool `spooled`. Each sample
// has a command beside it, and some a message of each other kind.
class DeadRun : public ::testing::Test {
 protected:
  void record(std::uint64_t recorded, bool finished = false) {
    auto header = furuta_header();
    header.epoch_unix_ns += epoch_shift_ns_;
    header.inertial_sensors = {"imu"};
    auto writer = proto::RecordingWriter::create(file("run.mcap"), header);
    ASSERT_TRUE(ok(writer));
    for (std::uint64_t k = 0; k < recorded; ++k) {
      ASSERT_TRUE(ok(writer.value().write(make_sample(k))));
      ASSERT_TRUE(ok(writer.value().write(command(k))));
      if (k % kPeriod != 0) continue;
      ASSERT_TRUE(ok(writer.value().write(reading(k))));
      ASSERT_TRUE(ok(writer.value().write(gap(k, proto::GapCause::kRingFull))));
      ASSERT_TRUE(ok(writer.value().write(event(k))));
      ASSERT_TRUE(ok(writer.value().write(proto::ClockFit{make_sample(k).timestamp_s})));
      ASSERT_TRUE(ok(writer.value().write(proto::LoopStats{make_sample(k).timestamp_s, k})));
      // The recorder's own gaps are not streamed.
      ASSERT_TRUE(ok(writer.value().write(gap(k, proto::GapCause::kStorage))));
      ASSERT_TRUE(ok(writer.value().write(gap(k, proto::GapCause::kNotListed))));
    }
    ASSERT_TRUE(ok(finished ? writer.value().finish() : writer.value().flush()));
  }

  void spool(std::uint64_t spooled, const proto::SpoolLimits& limits = {}) {
    auto folder = create_spool_folder(file("run.mcap.spool"),
                                      {.id = "run",
                                       .metadata = {{"hinges", "arm,pendulum"}},
                                       .epoch_unix_ns = furuta_header().epoch_unix_ns});
    ASSERT_TRUE(ok(folder));
    folder.value().spool = std::move(proto::Spool::open(file("run.mcap.spool"), limits).value());
    for (std::uint64_t k = 0; k < spooled; k += kBatchSamples) {
      SampleBatch batch;
      for (std::uint64_t s = k; s < std::min(k + kBatchSamples, spooled); ++s) {
        proto::to_message(make_sample(s), *batch.add_samples());
        proto::to_message(command(s), *batch.add_commands());
        if (s % kPeriod != 0) continue;
        proto::to_message(reading(s), *batch.add_inertial());
        proto::to_message(gap(s, proto::GapCause::kRingFull), *batch.add_gaps());
        proto::to_message(event(s), *batch.add_events());
        proto::to_message(proto::ClockFit{make_sample(s).timestamp_s}, *batch.add_clock_fits());
        proto::to_message(proto::LoopStats{make_sample(s).timestamp_s, s}, *batch.add_loop_stats());
      }
      ASSERT_TRUE(ok(folder.value().spool.append(batch.SerializeAsString())));
    }
    ASSERT_TRUE(ok(folder.value().spool.sync()));
  }

  // Completes the spool, as `send` does first, and stores its samples and its numbers of commands
  // and of the other messages, by kind.
  SpoolCompletion complete() {
    auto folder = open_spool_folder(file("run.mcap.spool"));
    EXPECT_TRUE(ok(folder));
    const auto rest = append_missing_messages(file("run.mcap.spool"), folder.value());
    EXPECT_TRUE(ok(rest));
    samples_.clear();
    commands_ = 0;
    others_.fill(0);
    proto::Spool& spool = folder.value().spool;
    for (std::uint64_t k = 1; k < spool.durable_batch_end(); ++k) {
      SampleBatch batch;
      EXPECT_TRUE(batch.ParseFromString(spool.read(k).value()));
      for (const auto& sample : batch.samples()) samples_.push_back(sample.sequence());
      commands_ += static_cast<std::uint64_t>(batch.commands_size());
      const std::array sizes = {batch.inertial_size(), batch.gaps_size(), batch.events_size(),
                                batch.clock_fits_size(), batch.loop_stats_size()};
      for (std::size_t kind = 0; kind < sizes.size(); ++kind) others_[kind] += sizes[kind];
      EXPECT_LE(
          std::accumulate(sizes.begin(), sizes.end(), batch.samples_size() + batch.commands_size()),
          kBatchMessagesMax);
    }
    return rest.ok() ? rest.value() : SpoolCompletion();
  }

  void expect_all(std::uint64_t count) const {
    ASSERT_EQ(samples_.size(), count);
    for (std::uint64_t k = 0; k < count; ++k) ASSERT_EQ(samples_[k], k);
    EXPECT_EQ(commands_, count);
    const auto others = static_cast<int>((count + kPeriod - 1) / kPeriod);
    for (const int number : others_) EXPECT_EQ(number, others);
  }

  static proto::Command command(std::uint64_t k) {
    return {make_sample(k).timestamp_s, k, 1, {0.5}, {0.5}, 1};
  }
  static proto::InertialReading reading(std::uint64_t k) {
    return {.timestamp_s = make_sample(k).timestamp_s, .sequence = k};
  }
  static proto::Gap gap(std::uint64_t k, proto::GapCause cause) {
    return {make_sample(k).timestamp_s, k, 0, cause};
  }
  static proto::Event event(std::uint64_t k) {
    proto::Event event;
    event.timestamp_s = make_sample(k).timestamp_s;
    event.name = "event " + std::to_string(k);
    return event;
  }
  std::string file(const std::string& name) const { return folder_.file(name); }

  test_support::TemporaryFolder folder_;
  std::int64_t epoch_shift_ns_ = 0;
  std::vector<std::uint64_t> samples_;
  std::uint64_t commands_ = 0;
  std::array<int, 5> others_{};
};

// The recording holds up to 0.25 s more than the spool. The service must get that as well, every
// message once, whether or not a batch had been spooled, and wherever it was cut.
TEST_F(DeadRun, SendsDataThatOnlyTheRecordingHolds) {
  for (const std::uint64_t spooled : {0U, 1U, 20U, 45U, 3000U, 4999U}) {
    SCOPED_TRACE(spooled);
    std::filesystem::remove_all(file("run.mcap.spool"));
    std::filesystem::remove(file("run.mcap.part"));
    record(5000);
    spool(spooled);
    const SpoolCompletion rest = complete();
    EXPECT_FALSE(rest.ended);
    ASSERT_EQ(rest.notes.size(), 1u);
    expect_parts(rest.notes[0], {std::to_string(5000 - spooled) + " samples"});
    expect_all(5000);
    EXPECT_TRUE(complete().notes.empty()) << "they agree now";
    expect_all(5000);
  }
}

// Batches in the middle of the spool are damaged. Their messages are not sent behind later ones,
// because the service refuses samples out of order. The others are sent in order, once.
TEST_F(DeadRun, SendsNothingBehindLaterMessages) {
  record(500);
  spool(480, {.segment_size_bytes = 10'000});
  const std::string first = file("run.mcap.spool/") + std::string(19, '0') + "1.spool";
  ASSERT_GT(std::filesystem::file_size(first), 10'000U);
  std::fstream(first, std::ios::in | std::ios::out | std::ios::binary).seekp(5'000).put('\x55');
  complete();
  ASSERT_LT(samples_.size(), 500U);
  ASSERT_GT(samples_.size(), 40U);
  EXPECT_TRUE(std::ranges::is_sorted(samples_, std::less_equal()));
  EXPECT_EQ(samples_.front(), 0U);
  EXPECT_EQ(samples_.back(), 499U);
}

// The converse: nothing can be added to the recording, so the difference is reported.
TEST_F(DeadRun, ReportsSamplesThatOnlyTheServiceWillHave) {
  record(500);
  spool(560);
  const SpoolCompletion rest = complete();
  ASSERT_EQ(rest.notes.size(), 1u);
  expect_parts(rest.notes[0], {"60 samples at the end"});
  expect_all(560);
}

// Killed after the recording was finished but before the spool was marked: the run counts as ended,
// and the last recorded messages are sent.
TEST_F(DeadRun, HasEndedWhereItsRecordingIsFinished) {
  record(500, /*finished=*/true);
  spool(480);
  EXPECT_TRUE(complete().ended);
  expect_all(500);
}

// A recording repaired by `recover` has no declared end either, and its event about the repair is
// not part of the run.
TEST_F(DeadRun, HasNotEndedWhereItsRecordingWasRecovered) {
  record(500);
  spool(480);
  ASSERT_TRUE(ok(proto::recover_recording(file("run.mcap.part"), file("run.recovered.mcap"))));
  std::filesystem::remove(file("run.mcap.part"));
  EXPECT_FALSE(complete().ended);
  expect_all(500);
}

// A recording of another run under the same name is ignored, and so is a missing one.
TEST_F(DeadRun, IgnoresAnotherRunsRecording) {
  epoch_shift_ns_ = 1;
  record(500);
  spool(480);
  const SpoolCompletion rest = complete();
  ASSERT_EQ(rest.notes.size(), 1u);
  expect_parts(rest.notes[0], {"may contain samples that the service does not receive"});
  expect_all(480);
  ASSERT_TRUE(ok(mark_run_ended(file("run.mcap.spool"))));
  EXPECT_TRUE(complete().ended);
  EXPECT_TRUE(complete().notes.empty()) << "whoever ended it has the recording";
}

// End to end: the service has all messages of the recording and marks the session as interrupted.
TEST_F(DeadRun, IsSentWholeAndAsInterrupted) {
  record(500);
  spool(480);
  test_support::StreamPeer peer;
  {
    const test_support::LocalService service(peer);
    const std::atomic<bool> stop(false);
    std::ostringstream out;
    EXPECT_EQ(send_spooled_data({file("run.mcap.spool"), {service.host_port()}}, stop, out),
              ExitCode::kDone);
    expect_parts(out.str(), {"20 samples that were missing in the spool",
                             "the end of this run was not recorded"});
  }
  EXPECT_EQ(test_support::sample_sequences(peer.session("run")).size(), 500u);
  EXPECT_TRUE(peer.session("run").closed);
  EXPECT_TRUE(peer.session("run").interrupted);
  EXPECT_FALSE(std::filesystem::exists(file("run.mcap.spool")));
}

}  // namespace
}  // namespace daq
