#include "daq/console/recording_sink.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "proto/recording/recording_reader.hpp"
#include "tests/daq/simulated_rig.hpp"
#include "tests/proto/recording_support.hpp"
#include "tests/support/memory_input_file.hpp"

namespace daq {
namespace {

using test_support::Disk;

Scenario steady_drive(double duration_s) {
  return {"step", Step{.amplitude = 1.0, .start_s = 0.0}, duration_s};
}

std::unique_ptr<RecordingSink> make_sink(const std::shared_ptr<Disk>& disk) {
  proto::RecordingHeader header;
  header.joints = {"arm", "pendulum"};
  auto writer = proto::RecordingWriter::create(
      std::make_unique<test_support::MemoryOutputFile>(disk), header);
  EXPECT_TRUE(writer.ok());
  return std::make_unique<RecordingSink>(std::move(writer.value()));
}

proto::Recording read_back(const Disk& disk) {
  auto recording = proto::read_recording(*proto::view_as_input_file(disk.content));
  EXPECT_TRUE(recording.ok());
  return recording.ok() ? std::move(recording.value()) : proto::Recording{};
}

const proto::Event* find_event(const proto::Recording& recording, const std::string& name) {
  for (const proto::Event& event : recording.events) {
    if (event.name == name) return &event;
  }
  return nullptr;
}

// The loop's records and the file must agree, sample for sample.
TEST(RecordingSink, RecordsTheWholeRun) {
  const auto disk = std::make_shared<Disk>();
  const auto sink = make_sink(disk);
  SimulatedRig rig(steady_drive(2.5), furuta_settings(), simulation_settings(), furuta_limits(),
                   sink.get());
  rig.run();
  rig.finish();
  ASSERT_TRUE(sink->finish().ok());
  EXPECT_TRUE(disk->published);
  const proto::Recording recording = read_back(*disk);
  EXPECT_TRUE(recording.scan.container.intact());
  ASSERT_EQ(recording.samples.size(), rig.sink().samples.size());
  EXPECT_EQ(recording.samples.back().encoder_counts, rig.sink().samples.back().encoder_counts);
  EXPECT_EQ(recording.samples.size(), rig.sim_unit().counters().samples_sent);
  EXPECT_GE(recording.clock_fits.size(), 1U);
  EXPECT_GE(recording.loop_stats.size(), 2U);
}

// A disk that hangs must not delay the caller. A heartbeat that stands still shows it. When the
// disk continues, everything is written in order.
TEST(RecordingSink, ADiskThatHangsDelaysNobody) {
  const auto disk = std::make_shared<Disk>();
  const auto sink = make_sink(disk);
  disk->hangs = true;
  for (std::uint64_t k = 0; k < 3000; ++k) {
    proto::Sample sample = test_support::make_sample(k);
    ASSERT_TRUE(sink->write(sample).ok());
    ASSERT_TRUE(sink->idle().ok());
  }
  while (!disk->waited_for) std::this_thread::yield();
  const std::uint64_t heartbeat = sink->heartbeat().load();
  EXPECT_GT(sink->unwritten_message_count(), 0U);
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  EXPECT_EQ(sink->heartbeat().load(), heartbeat);
  disk->hangs = false;
  disk->hangs.notify_all();
  while (sink->unwritten_message_count() > 0) std::this_thread::yield();
  EXPECT_GT(sink->heartbeat().load(), heartbeat);
  ASSERT_TRUE(sink->finish().ok());
  const proto::Recording recording = read_back(*disk);
  ASSERT_EQ(recording.samples.size(), 3000U);
  for (std::uint64_t k = 0; k < 3000; ++k) {
    ASSERT_TRUE(test_support::same(recording.samples[k], test_support::make_sample(k))) << k;
  }
}

// A trip is on the disk before its chunk is full, even if the program dies.
TEST(RecordingSink, HandsAnEventToTheDiskAtOnce) {
  const auto disk = std::make_shared<Disk>();
  const auto sink = make_sink(disk);
  ASSERT_TRUE(sink->write(test_support::make_sample(0)).ok());
  ASSERT_TRUE(sink->write(proto::Event{.kind = proto::EventKind::kTrip, .name = "angle"}).ok());
  ASSERT_TRUE(sink->idle().ok());
  while (sink->unwritten_message_count() > 0) std::this_thread::yield();
  const proto::Recording recording = read_back(*disk);
  EXPECT_FALSE(recording.scan.container.finished);
  EXPECT_NE(find_event(recording, "angle"), nullptr);
  EXPECT_EQ(recording.samples.size(), 1U);
}

// Without new data the heartbeat continues, and data already written are made durable.
TEST(RecordingSink, BeatsAndSyncsWithoutData) {
  const auto disk = std::make_shared<Disk>();
  const auto sink = make_sink(disk);
  const std::uint64_t heartbeat = sink->heartbeat().load();
  while (sink->heartbeat().load() < heartbeat + 10) std::this_thread::yield();
  ASSERT_TRUE(sink->finish().ok());
  EXPECT_GE(disk->sync_count, 2) << "finish() itself makes one";
}

// A failure after the supervisor's last look must not be lost: the run must not end as a success.
TEST(RecordingSink, ReportsAFailureAtItsEnd) {
  const auto disk = std::make_shared<Disk>();
  const auto sink = make_sink(disk);
  ASSERT_TRUE(sink->write(test_support::make_sample(0)).ok());
  disk->appends_fail = true;
  EXPECT_FALSE(sink->finish().ok());
  EXPECT_FALSE(sink->status().ok());
  EXPECT_EQ(sink->lost_sample_count(), 1U);
}

// A full disk ends the run with the output off, and the recording on the disk records why.
TEST(RecordingSink, ADiskThatFillsUpSwitchesOffAndLeavesAReadableRecording) {
  for (const bool can_reserve : {true, false}) {
    SCOPED_TRACE(can_reserve);
    const auto disk = std::make_shared<Disk>();
    disk->capacity = 1'000'000;  // about five seconds
    disk->can_reserve = can_reserve;
    const auto sink = make_sink(disk);
    SimulatedRig rig(steady_drive(60.0), furuta_settings(), simulation_settings(), furuta_limits(),
                     sink.get());
    rig.run();
    EXPECT_TRUE(rig.supervisor().must_stop());
    EXPECT_LT(rig.time_s(), 10.0);
    rig.finish();
    rig.abandon(std::chrono::milliseconds(furuta_settings().ttl_ms + 2));
    EXPECT_EQ(rig.sim_unit().output_V(), 0.0);
    const proto::Status finished = sink->finish();
    const proto::Recording recording = read_back(*disk);
    EXPECT_GT(recording.samples.size(), 500U);
    if (can_reserve) {
      EXPECT_TRUE(finished.ok());
      const proto::Event* trip = find_event(recording, "storage");
      ASSERT_NE(trip, nullptr);
      EXPECT_NE(trip->text.find("disk full"), std::string::npos);
    }
  }
}

// A trip must be in the file with its values and its frames.
TEST(RecordingSink, RecordsATripWithItsValuesAndFrames) {
  const auto disk = std::make_shared<Disk>();
  const auto sink = make_sink(disk);
  SafetyLimits limits = furuta_limits();
  limits.joint[0].angle_rad_max = 0.5;
  SimulatedRig rig(steady_drive(60.0), furuta_settings(), simulation_settings(), limits,
                   sink.get());
  rig.run();
  rig.finish();
  ASSERT_TRUE(sink->finish().ok());
  const proto::Recording recording = read_back(*disk);
  const proto::Event* trip = find_event(recording, "angle");
  ASSERT_NE(trip, nullptr);
  EXPECT_EQ(trip->kind, proto::EventKind::kTrip);
  EXPECT_EQ(trip->channel, "arm");
  EXPECT_GT(trip->value, 0.5);
  EXPECT_EQ(trip->limit, 0.5);
  EXPECT_EQ(trip->unit, "rad");
  const proto::Event* box = find_event(recording, "black box");
  ASSERT_NE(box, nullptr);
  EXPECT_EQ(box->last_frames.size(), BlackBox::kCapacity);
}

}  // namespace
}  // namespace daq
