#include "daq/commands/recording_sink.hpp"

#include <gtest/gtest.h>

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
  header.hinges = {"arm", "pendulum"};
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

// What the loop told and what the file holds must be the same, sample for sample.
TEST(RecordingSink, HoldsTheWholeRun) {
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
  ASSERT_EQ(recording.samples.size(), rig.told().samples.size());
  EXPECT_EQ(recording.samples.back().encoder_counts, rig.told().samples.back().encoder_counts);
  EXPECT_EQ(recording.samples.size(), rig.sim_unit().counters().samples_sent);
  EXPECT_GE(recording.clock_fits.size(), 1U);
  EXPECT_GE(recording.loop_stats.size(), 2U);
}

// A full disk ends the run with the output off, and what is on the disk says so.
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
    EXPECT_TRUE(rig.supervisor().wants_stop());
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

// A trip must be in the file, with its figures and its frames, whatever follows.
TEST(RecordingSink, HoldsATripWithItsFiguresAndFrames) {
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
