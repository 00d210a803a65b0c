#include "service/recordings/formats/recording_file.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "proto/recording/recording_info.hpp"
#include "proto/recording/recording_writer.hpp"
#include "proto/text/files.hpp"
#include "tests/proto/unchecked_recording.hpp"
#include "tests/service/run_rigcal.hpp"
#include "tests/support/refusal.hpp"

namespace service {
namespace {

using namespace test_support;

/// Channel 0 is the pendulum and channel 1 the arm, not in the order of the rig's joints.
const proto::RecordingHeader kHeader = {.joints = {"2", "1"}, .epoch_unix_ns = 0, .facts = {}};

double arm_angle(int k) { return 0.3 * std::sin(0.004 * k); }
double pendulum_angle(int k) { return std::cos(0.0061 * k); }
double command(int k) { return 0.01 * k; }

/// Phases of a scenario, with the time at which each began [s].
using Phases = std::vector<std::pair<double, std::string>>;

/// Writes samples at 1 kHz, without those in [skip_from, skip_to).
void write_recording(const std::string& path, int count, int skip_from = 0, int skip_to = 0,
                     const Phases& phases = {}, double trip_s = -1.0,
                     const proto::RecordingHeader& header = kHeader) {
  auto writer = proto::RecordingWriter::create(path, header);
  ASSERT_TRUE(writer.ok()) << writer.error().detail;
  for (const auto& [time_s, name] : phases) {
    proto::Event event{.timestamp_s = time_s, .kind = proto::EventKind::kScenario, .name = name};
    ASSERT_TRUE(writer.value().write(event).ok());
  }
  if (trip_s >= 0.0) {
    const proto::Event trip = {.timestamp_s = trip_s,
                               .kind = proto::EventKind::kTrip,
                               .name = "angle",
                               .text = "1: angle 2.01 rad, allowed 2 rad"};
    ASSERT_TRUE(writer.value().write(trip).ok());
  }
  for (int k = 0; k < count; ++k) {
    if (k >= skip_from && k < skip_to) continue;
    proto::Sample sample;
    sample.timestamp_s = 1e-3 * k;
    sample.sequence = static_cast<std::uint64_t>(k);
    sample.device_time_us = 1000 * k;
    sample.channel_count = 2;
    sample.angle_rad = {pendulum_angle(k), arm_angle(k)};
    sample.valid = {k != 7, true};
    if (!sample.valid[0]) sample.angle_rad[0] = std::numeric_limits<double>::quiet_NaN();
    sample.command[0] = command(k);
    ASSERT_TRUE(writer.value().write(sample).ok());
  }
  ASSERT_TRUE(writer.value().finish().ok());
}

Rig furuta() { return load_rig(config("rig-furuta.textproto")); }

// Channels are assigned by their joints' names, not by position. Invalid samples are not observed.
TEST(McapRecording, ArrivesInTheOrderOfTheRigsJoints) {
  const TemporaryFolder folder;
  write_recording(folder.file("run.mcap"), 500);
  const ImportedRecording imported = import_recording(folder.file("run.mcap"), furuta());
  ASSERT_EQ(imported.recording.segments.size(), 1U);
  const estimator::Segment& segment = imported.recording.segments[0];
  ASSERT_EQ(segment.sample_count(), 500);
  EXPECT_NEAR(segment.period, 1e-3, 1e-12);
  ASSERT_EQ(segment.angles.cols(), 2);
  ASSERT_EQ(segment.controls.cols(), 1);
  EXPECT_EQ(segment.angles(123, 0), arm_angle(123));
  EXPECT_EQ(segment.angles(123, 1), pendulum_angle(123));
  EXPECT_EQ(segment.controls(123, 0), command(123));
  EXPECT_TRUE(std::isnan(segment.angles(7, 1)));
  EXPECT_EQ(segment.angles(7, 0), arm_angle(7));
  EXPECT_EQ(imported.summary.rows, 500);
  EXPECT_TRUE(imported.summary.gaps.empty());
}

TEST(McapRecording, InAnotherUnitThanTheMotorsIsRefused) {
  const TemporaryFolder folder;
  const std::string path = folder.file("run.mcap");
  proto::RecordingHeader header = kHeader;
  header.motors = {"1"};
  header.command_units = {"duty"};
  write_recording(path, 500, 0, 0, {}, -1.0, header);
  expect_parts(refusal([&] { (void)import_recording(path, furuta()); }),
               {"run.mcap: the commands are in duty", "\"1\"", "control_unit: \"V\"",
                "Use the rig file it was recorded with"});
}

// The motion after a trip is not part of the experiment. At least ten samples must precede it.
TEST(McapRecording, LeavesOutTheRowsAfterATrip) {
  const TemporaryFolder folder;
  write_recording(folder.file("run.mcap"), 500, 0, 0, {}, 0.3);
  const ImportedRecording imported = import_recording(folder.file("run.mcap"), furuta());
  ASSERT_EQ(imported.recording.segments.size(), 1U);
  EXPECT_EQ(imported.recording.segments[0].sample_count(), 300);
  EXPECT_EQ(imported.recording.segments[0].angles(299, 0), arm_angle(299));
  EXPECT_EQ(imported.summary.rows_after_trip, 200);
  EXPECT_EQ(imported.summary.dropped_rows, 0);
  ASSERT_EQ(imported.summary.notes.size(), 1U);
  expect_parts(imported.summary.notes[0], {"allowed 2 rad.", "200 rows from then on"});

  write_recording(folder.file("ten.mcap"), 500, 0, 0, {}, 0.010);
  EXPECT_EQ(
      import_recording(folder.file("ten.mcap"), furuta()).recording.segments[0].sample_count(), 10);
  write_recording(folder.file("nine.mcap"), 500, 0, 0, {}, 0.009);
  expect_parts(refusal([&] { (void)import_recording(folder.file("nine.mcap"), furuta()); }),
               {"nine.mcap", "before the safety trip", "allowed 2 rad", "record again"});
}

// Impossible numbers in a file from elsewhere: the samples are omitted and the first is reported. A
// number that would change the times of all samples is refused.
TEST(McapRecording, ReportsImpossibleNumbers) {
  const TemporaryFolder folder;
  const auto write = [&](const std::string& name, double angle_rad, double rate_error_ppm,
                         std::int64_t period_us) {
    std::vector<proto::Sample> samples(300);
    for (int k = 0; k < 300; ++k) {
      proto::Sample& sample = samples[static_cast<std::size_t>(k)];
      sample.timestamp_s = 1e-6 * static_cast<double>(period_us) * k;
      sample.sequence = static_cast<std::uint64_t>(k);
      sample.device_time_us = period_us * k;
      sample.channel_count = 2;
      sample.angle_rad = {pendulum_angle(k), k == 150 ? angle_rad : arm_angle(k)};
      sample.valid = {true, true};
    }
    write_bytes(folder.file(name),
                record_unchecked(samples, "2,1", {{.rate_error_ppm = rate_error_ppm}}));
    return folder.file(name);
  };
  const std::string huge = write("huge.mcap", 1e13, 0.0, 1000);
  const ImportedRecording imported = import_recording(huge, furuta());
  ASSERT_EQ(imported.recording.segments.size(), 1U);
  EXPECT_EQ(imported.summary.holes.rows, 1);
  EXPECT_TRUE(std::isnan(imported.recording.segments[0].angles(150, 0)));
  ASSERT_FALSE(imported.summary.notes.empty());
  expect_parts(imported.summary.notes.back(),
               {"1 messages were left out", "sample 150 has the angle 10e12; it must be from"});
  expect_parts(proto::to_text(proto::inspect_recording(huge).value()),
               {"1 messages rejected", "sample 150 has the angle 10e12"});
  const auto refused = [&](const std::string& path) {
    return refusal([&] { (void)import_recording(path, furuta()); });
  };
  EXPECT_EQ(import_recording(write("a.mcap", 0.0, 1e5, 1000), furuta()).summary.rows, 300);
  expect_parts(refused(write("b.mcap", 0.0, -1.1e5, 1000)), {"b.mcap", "-110e3 ppm", "export"});
  expect_parts(refused(write("c.mcap", 0.0, 0.0, 9)), {"c.mcap", "9e-6 s", "shorter"});
  expect_parts(refused(write("d.mcap", 0.0, 0.0, 600'000)), {"d.mcap", "0.6 s", "too long"});
}

// Across a few missing samples the recording continues, without readings.
TEST(McapRecording, ContinuesAcrossAGap) {
  const TemporaryFolder folder;
  write_recording(folder.file("run.mcap"), 400, 150, 170);
  const ImportedRecording imported = import_recording(folder.file("run.mcap"), furuta());
  ASSERT_EQ(imported.recording.segments.size(), 1U);
  const estimator::Segment& segment = imported.recording.segments[0];
  ASSERT_EQ(segment.sample_count(), 400);
  EXPECT_TRUE(imported.summary.gaps.empty());
  EXPECT_EQ(imported.summary.holes.count, 1);
  EXPECT_EQ(imported.summary.holes.rows, 20);
  EXPECT_EQ(imported.summary.dropped_rows, 0);
  EXPECT_TRUE(segment.angles.middleRows(150, 20).array().isNaN().all());
  EXPECT_NEAR(segment.controls(160, 0), command(160), 1e-12);
  EXPECT_EQ(segment.angles(170, 0), arm_angle(170));
  EXPECT_EQ(segment.controls(170, 0), command(170));
}

// A gap must end the segment: bridging it would invent motion.
TEST(McapRecording, GapSplitsTheRecording) {
  const TemporaryFolder folder;
  write_recording(folder.file("run.mcap"), 700, 150, 370);
  const ImportedRecording imported = import_recording(folder.file("run.mcap"), furuta());
  ASSERT_EQ(imported.recording.segments.size(), 2U);
  EXPECT_EQ(imported.recording.segments[0].sample_count(), 150);
  EXPECT_EQ(imported.recording.segments[1].sample_count(), 330);
  EXPECT_NEAR(imported.recording.segments[1].start, 0.370, 1e-9);
  EXPECT_EQ(imported.recording.segments[1].angles(0, 0), arm_angle(370));
  ASSERT_EQ(imported.summary.gaps.size(), 1U);
  EXPECT_NEAR(imported.summary.gaps[0].duration, 0.221, 1e-9);
}

// Readings of inertial sensors are assigned to their samples and, by name, to the rig's sensors.
// Those of samples that are missing or after a trip belong to no row.
TEST(McapRecording, AssignsInertialReadingsToTheirSamples) {
  const TemporaryFolder folder;
  const Rig rig = parse_rig("rig.textproto", proto::read_file(config("rig-furuta.textproto")) + R"(
inertial_sensor { name: "first" body: "A" gyroscope { } accelerometer { } }
inertial_sensor { name: "second" body: "B" gyroscope { } accelerometer { } })");
  proto::RecordingHeader header = kHeader;
  header.inertial_sensors = {"second", "first"};
  auto writer = proto::RecordingWriter::create(folder.file("run.mcap"), header);
  ASSERT_TRUE(writer.ok());
  const auto value = [](std::uint64_t sequence, int sensor, int axis) {
    return 1e-3 * static_cast<double>(sequence) + sensor + 0.1 * axis;
  };
  ASSERT_TRUE(
      writer.value()
          .write(proto::Event{.timestamp_s = 0.3, .kind = proto::EventKind::kTrip, .name = "angle"})
          .ok());
  for (std::uint64_t k = 0; k < 400; ++k) {
    proto::Sample sample;
    sample.timestamp_s = 1e-3 * static_cast<double>(k);
    sample.sequence = k;
    sample.device_time_us = static_cast<std::int64_t>(1000 * k);
    sample.channel_count = 2;
    sample.valid = {true, true};
    if (k < 50 || k >= 270) ASSERT_TRUE(writer.value().write(sample).ok());
    for (const int sensor : {0, 1}) {
      proto::InertialReading reading;
      reading.timestamp_s = sample.timestamp_s;
      reading.sequence = k;
      reading.sensor = sensor == 0 ? 1 : 0;
      for (int axis = 0; axis < 6; ++axis) {
        reading.value[static_cast<std::size_t>(axis)] = value(k, sensor, axis);
      }
      ASSERT_TRUE(writer.value().write(reading).ok());
    }
  }
  ASSERT_TRUE(writer.value().finish().ok());
  const ImportedRecording imported = import_recording(folder.file("run.mcap"), rig);
  ASSERT_EQ(imported.recording.segments.size(), 2U);
  for (const estimator::Segment& segment : imported.recording.segments) {
    const auto first = static_cast<std::uint64_t>(std::lround(1e3 * segment.start));
    ASSERT_EQ(segment.sample_count(), first == 0 ? 50 : 30);
    ASSERT_EQ(segment.inertial.cols(), 12);
    for (int row = 0; row < segment.sample_count(); ++row) {
      for (int column = 0; column < 12; ++column) {
        EXPECT_EQ(segment.inertial(row, column),
                  value(first + static_cast<std::uint64_t>(row), column / 6, column % 6));
      }
    }
  }
}

// While a hand holds the rig its model does not apply: those samples would bias every estimate.
// Their number is reported, and a recording without a release has no usable samples.
TEST(McapRecording, HandHeldSamplesAreOmitted) {
  const TemporaryFolder folder;
  const Phases release = {{0.0, "settling"},
                          {0.1, "waiting for hold"},
                          {0.2, "waiting for release"},
                          {0.25, "running"}};
  write_recording(folder.file("release.mcap"), 1000, 400, 650, release);
  const ImportedRecording imported = import_recording(folder.file("release.mcap"), furuta());
  ASSERT_EQ(imported.recording.segments.size(), 2U);
  const estimator::Segment& segment = imported.recording.segments[0];
  EXPECT_NEAR(segment.start, 0.25, 1e-9);
  EXPECT_EQ(segment.sample_count(), 150);
  EXPECT_EQ(segment.angles(0, 0), arm_angle(250));
  EXPECT_EQ(segment.controls(0, 0), command(250));
  EXPECT_EQ(imported.summary.rows_before_release, 250);
  EXPECT_EQ(imported.summary.dropped_rows, 0);
  ASSERT_FALSE(imported.summary.notes.empty());
  expect_parts(imported.summary.notes[0], {"250 rows", "release"});

  // A driven scenario does not wait for a release: everything counts.
  write_recording(folder.file("pulse.mcap"), 500, 0, 0, {{0.0, "settling"}, {0.1, "running"}});
  EXPECT_EQ(import_recording(folder.file("pulse.mcap"), furuta()).summary.rows_before_release, 0);

  write_recording(folder.file("held.mcap"), 500, 0, 0, {release.begin(), release.end() - 1});
  expect_parts(refusal([&] { (void)import_recording(folder.file("held.mcap"), furuta()); }),
               {"held.mcap", "never released"});
}

// A recording cut off by a crash is usable: the intact part is read, and a note says so.
TEST(McapRecording, CutOffRecordingGivesItsIntactPart) {
  const TemporaryFolder folder;
  write_recording(folder.file("run.mcap"), 2000);
  const std::string whole = contents_of(folder.file("run.mcap"));
  const std::string part = folder.write("cut.mcap.part", whole.substr(0, whole.size() * 6 / 10));
  const ImportedRecording imported = import_recording(part, furuta());
  ASSERT_EQ(imported.recording.segments.size(), 1U);
  const estimator::Segment& segment = imported.recording.segments[0];
  EXPECT_GT(segment.sample_count(), 200);
  EXPECT_LT(segment.sample_count(), 2000);
  EXPECT_EQ(segment.angles(200, 0), arm_angle(200));
  ASSERT_FALSE(imported.summary.notes.empty());
  expect_parts(imported.summary.notes[0], {"cut off"});
}

TEST(McapRecording, UnusableRecordingsAreRefusedByName) {
  const TemporaryFolder folder;
  const std::string run = folder.file("run.mcap");
  write_recording(run, 500);
  expect_parts(
      refusal([&] { (void)import_recording(run, load_rig(config("rig-pendulum.textproto"))); }),
      {run, "no joint \"pivot\"", "\"2\" \"1\"", "rig file"});
  const std::string brief = folder.file("brief.mcap");
  write_recording(brief, 9);
  expect_parts(refusal([&] { (void)import_recording(brief, furuta()); }), {brief, "too short"});
  const std::string text = folder.write("text.mcap", "t_s,theta1_rad\n0,1\n");
  expect_parts(refusal([&] { (void)import_recording(text, furuta()); }), {"text.mcap"});
  expect_parts(refusal([&] { (void)import_recording(folder.file("no.mcap"), furuta()); }),
               {"no.mcap"});
}

// End to end: the program recognizes the recording by its file extension and writes the result.
TEST(McapRecording, CalibrateReadsIt) {
  const TemporaryFolder folder;
  write_recording(folder.file("run.mcap"), 3000);
  const ProgramRun run = run_rigcal(
      "calibrate " + folder.file("run.mcap") + " --rig " + config("rig-furuta.textproto") +
      " --as-is --max-iterations 2 --no-refine --json " + folder.file("run.json"));
  EXPECT_TRUE(run.exit_code == 0 || run.exit_code == 2) << run.err;
  expect_parts(contents_of(folder.file("run.json")), {"run.mcap", "\"A.J_zz\"", "\"rmseRad\""});
}

}  // namespace
}  // namespace service
