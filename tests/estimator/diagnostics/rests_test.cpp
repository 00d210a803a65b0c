#include "estimator/diagnostics/signal/channels.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "estimator/signal/noise_level.hpp"
#include "tests/support/mechanisms/example_mechanisms.hpp"

namespace estimator {
namespace {

constexpr double kPeriod = 1e-2;  // [s]
constexpr double kRestQuantum = 2.0 * M_PI / 2000.0;

/// A swing that stands still after `moving` rows.
Recording coming_to_rest(int moving, int rows) {
  Segment segment;
  segment.period = kPeriod;
  segment.angles.resize(rows, 1);
  segment.controls = Eigen::MatrixXd::Zero(rows, 1);
  for (int k = 0; k < rows; ++k) {
    const double angle = std::sin(5.0 * kPeriod * std::min(k, moving));
    segment.angles(k, 0) = kRestQuantum * std::round(angle / kRestQuantum);
  }
  return {"run", {segment}};
}

SignalExamination examined(const Recording& recording, double quantum = kRestQuantum) {
  SignalExamination out;
  const auto sensors = used_encoders(make_pendulum({.motorised = true}));
  const Eigen::Index sensor = recording.segments[0].angles.cols() - 1;
  find_rest_intervals(sensors[0], static_cast<int>(sensor), quantum, recording, 0, out);
  return out;
}

// Of seven seconds at rest one reading per second is kept, with the first and the last. All
// readings in motion are kept.
TEST(RestIntervals, KeepAFractionOfTheirReadings) {
  const SignalExamination out = examined(coming_to_rest(300, 1000));
  ASSERT_EQ(out.findings.size(), 1U);
  EXPECT_EQ(out.findings[0].message.code, MessageCode::kRestIntervals);
  EXPECT_EQ(out.findings[0].severity, Severity::kNote);
  EXPECT_EQ(out.findings[0].channel, "1");
  EXPECT_NEAR(out.findings[0].from, 3.0, 0.05);
  ASSERT_EQ(out.findings[0].intervals.size(), 1U);
  EXPECT_EQ(out.findings[0].intervals[0].from, out.findings[0].from);
  EXPECT_EQ(out.findings[0].intervals[0].to, out.findings[0].to);
  EXPECT_NEAR(out.findings[0].size, 0.7, 0.01);
  EXPECT_NEAR(static_cast<double>(out.rejected.size()), 700.0 - 8.0, 5.0);
  for (const RejectedReading& rejected : out.rejected) EXPECT_GT(rejected.row, 295);
}

// With a long motion before it, ten seconds at rest keep a hundredth as many readings as the motion
// has, but never more than ten per second.
TEST(RestIntervals, KeepAHundredthOfTheReadingsInMotion) {
  EXPECT_NEAR(static_cast<double>(examined(coming_to_rest(4000, 5000)).rejected.size()),
              1000.0 - 40.0, 5.0);
  EXPECT_NEAR(static_cast<double>(examined(coming_to_rest(15000, 16000)).rejected.size()),
              1000.0 - 100.0, 12.0);
}

// A joint rests on its own while another moves and its own command changes.
TEST(RestIntervals, AreFoundWhileOtherJointsMove) {
  Recording recording = coming_to_rest(300, 1000);
  Segment& segment = recording.segments[0];
  const Eigen::VectorXd moving = coming_to_rest(1000, 1000).segments[0].angles.col(0);
  segment.angles = (Eigen::MatrixXd(1000, 2) << moving, segment.angles).finished();
  segment.controls.setRandom();
  const SignalExamination out = examined(recording);
  ASSERT_EQ(out.findings.size(), 1U);
  EXPECT_NEAR(out.findings[0].size, 0.7, 0.01);
  for (const RejectedReading& rejected : out.rejected) EXPECT_EQ(rejected.sensor, 1);
}

// Missing or rejected readings neither end a rest nor belong to it, in the middle or at the start,
// where there is nothing to repeat yet.
TEST(RestIntervals, ContinueAcrossMissingReadings) {
  Recording recording = coming_to_rest(300, 1000);
  Eigen::MatrixXd& angles = recording.segments[0].angles;
  for (int row = 50; row < 1000; row += 50) angles(row, 0) = std::nan("");
  SignalExamination out = examined(recording);
  ASSERT_EQ(out.findings.size(), 1U);
  EXPECT_NEAR(out.findings[0].size, 0.7, 0.01);
  angles(0, 0) = std::nan("");
  out = examined(recording);
  ASSERT_EQ(out.findings.size(), 1U);
  EXPECT_NEAR(out.findings[0].size, 0.7, 0.01);
}

/// Readings of a joint, one per period, rounded to whole counts.
Recording quantized(const Eigen::VectorXd& angles) {
  Segment segment;
  segment.period = kPeriod;
  segment.angles = kRestQuantum * (angles / kRestQuantum).array().round();
  segment.controls = Eigen::MatrixXd::Zero(angles.size(), 1);
  return {"run", {segment}};
}

/// Swings between end stops at which the joint rests for some rows.
Recording resting_at_stops(int rest, int swings) {
  constexpr int kSwing = 60;
  Eigen::VectorXd angles(swings * (kSwing + rest));
  for (int k = 0; k < angles.size(); ++k) {
    const int row = std::min(k % (kSwing + rest), kSwing), number = k / (kSwing + rest);
    angles[k] = (number % 2 == 0 ? 1.0 : -1.0) * (1.0 - 2.0 * row / kSwing);
  }
  return quantized(angles);
}

// A rest below one second is thinned too, at the end of a motion or at an end stop: a fit to all of
// its readings shifts the motion. The first and last readings are kept.
TEST(RestIntervals, IncludeShortRestsThatAreNotTurningPoints) {
  const SignalExamination end = examined(coming_to_rest(920, 1000));
  ASSERT_EQ(end.findings.size(), 1U);
  EXPECT_NEAR(static_cast<double>(end.rejected.size()), 80.0 - 9.0, 3.0);
  const SignalExamination stops = examined(resting_at_stops(30, 6));
  ASSERT_EQ(stops.findings.size(), 1U);
  EXPECT_EQ(stops.findings[0].intervals.size(), 6U);
  EXPECT_NEAR(stops.findings[0].size, 1.0 / 3.0, 0.01);
  for (const RejectedReading& rejected : stops.rejected) EXPECT_GT(rejected.row % 90, 60);
}

// Short rests are compared with the readings that are not in long rests: 0.5 s is 4.3 % of 11.5 s,
// but 7.7 % of the 6.5 s that remain without a rest of 5 s.
TEST(RestIntervals, CompareShortRestsWithTheOtherReadings) {
  const auto intervals = [](int before, int moving) {
    Eigen::VectorXd angles(before + moving + 50);
    for (int k = 0; k < angles.size(); ++k) {
      angles[k] = std::sin(5.0 * kPeriod * std::clamp(k - before, 0, moving));
    }
    const SignalExamination out = examined(quantized(angles));
    return out.findings.empty() ? 0 : std::ssize(out.findings[0].intervals);
  };
  EXPECT_EQ(intervals(500, 600), 2);
  EXPECT_EQ(intervals(500, 1100), 1);
  EXPECT_EQ(intervals(0, 1100), 0);
}

// At a turning point a slow joint repeats a reading too, for up to 4.8 times as long as before and
// after it. These readings are needed: their errors differ.
TEST(RestIntervals, ExcludeTurningPoints) {
  for (const double amplitude : {3.0, 10.0, 50.5}) {  // [counts]
    Eigen::VectorXd angles(2000);
    for (int k = 0; k < 2000; ++k) {
      angles[k] = amplitude * kRestQuantum * std::sin(1.3 * kPeriod * k);
    }
    EXPECT_TRUE(examined(quantized(angles)).findings.empty()) << amplitude;
  }
}

// No rest: noise without quantization, or a small part of a recording. A rest of 1.1 s is 5.2 % of
// 21.1 s and 4.6 % of 24.1 s.
TEST(RestIntervals, AreNotReportedInMotionOrIfRare) {
  EXPECT_TRUE(examined(coming_to_rest(300, 1000), 0.0).findings.empty());
  EXPECT_EQ(examined(coming_to_rest(2000, 2110)).findings.size(), 1U);
  EXPECT_TRUE(examined(coming_to_rest(2300, 2410)).findings.empty());
}

// An encoder at half the rate of the recording: the second row of each reading is rejected, and
// only then does the noise have its true level.
TEST(RepeatedReadings, AreRejectedBeforeOtherFindings) {
  Segment segment;
  segment.period = kPeriod;
  segment.angles.resize(2000, 1);
  segment.controls = Eigen::MatrixXd::Zero(2000, 1);
  std::mt19937 random(3);
  std::normal_distribution<double> noise(0.0, 1e-3);
  for (int k = 0; k < 2000; k += 2) {
    segment.angles.middleRows(k, 2).setConstant(std::sin(5.0 * kPeriod * k) + noise(random));
  }
  const Mechanism mechanism = make_pendulum({.motorised = true});
  const SignalExamination out = examine_signals(mechanism, {{"run", {segment}}});
  const auto found = std::ranges::find(out.findings, MessageCode::kRepeatedReadings,
                                       [](const Finding& each) { return each.message.code; });
  ASSERT_NE(found, out.findings.end());
  EXPECT_TRUE(found->treated);
  EXPECT_EQ(found->severity, Severity::kNote);
  EXPECT_DOUBLE_EQ(found->size, 2.0);
  ASSERT_EQ(out.rejected.size(), 1000U);
  for (const RejectedReading& rejected : out.rejected) EXPECT_EQ(rejected.row % 2, 1);
  const RepairedInput input = apply_repairs(mechanism, {{"run", {segment}}}, out);
  EXPECT_NEAR(estimate_noise_level(input.recordings[0].segments[0], 0), 1e-3, 0.15e-3);
}

}  // namespace
}  // namespace estimator
