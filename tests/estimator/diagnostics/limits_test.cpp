#include "estimator/diagnostics/signal/channels.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "tests/support/mechanisms/example_mechanisms.hpp"
#include "tests/support/mechanisms/reference_rigs.hpp"

namespace estimator {
namespace {

constexpr double kLimitPeriod = 1e-3;  // [s]
constexpr double kAmplitude = 1.0;     // [rad]
constexpr double kSwing = 6.0;         // [rad/s]
constexpr double kQuantum = 2.0 * M_PI / 4096.0;

/// A pendulum with the largest speed kAmplitude · kSwing, as quantized readings, and a command that
/// goes from −4 to 4.
Recording swinging() {
  Segment segment;
  segment.period = kLimitPeriod;
  segment.angles.resize(3000, 1);
  segment.controls.resize(3000, 1);
  for (Eigen::Index k = 0; k < 3000; ++k) {
    const double t = kLimitPeriod * static_cast<double>(k);
    segment.angles(k, 0) = kQuantum * std::round(kAmplitude * std::sin(kSwing * t) / kQuantum);
    segment.controls(k, 0) = 4.0 * std::sin(5.0 * t);
  }
  return {"run", {segment}};
}

std::vector<Finding> compared(const Recording& recording, const SensorDescription& facts) {
  SignalExamination out;
  find_limit_violations(make_pendulum({.motorised = true}), {kQuantum}, recording, facts, out);
  return out.findings;
}

TEST(RecordingLimits, AreNotReportedIfRespectedOrAbsent) {
  EXPECT_TRUE(compared(swinging(), {}).empty());
  EXPECT_TRUE(compared(swinging(), {.limits = {{}}, .command_limit = {0.0}}).empty());
  EXPECT_TRUE(
      compared(swinging(), {.limits = {{-1.01, 1.01, 6.1}}, .command_limit = {4.1}}).empty());
}

// Either end of the range. A missing reading is not beyond the range.
TEST(RecordingLimits, ReportReadingsBeyondEitherLimit) {
  for (const auto& [lowest, highest, extreme] :
       {std::tuple{-2.0, 0.9, 1.0}, std::tuple{-0.9, 2.0, -1.0}}) {
    Recording recording = swinging();
    recording.segments[0].angles(0, 0) = std::numeric_limits<double>::quiet_NaN();
    const std::vector<Finding> found = compared(recording, {.limits = {{lowest, highest, 0.0}}});
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].message.code, MessageCode::kReadingBeyondRange);
    EXPECT_NEAR(found[0].size, extreme, kQuantum);
    EXPECT_NEAR(std::abs(kAmplitude * std::sin(kSwing * found[0].from)), 0.9, 0.02);
    EXPECT_GT(found[0].intervals.size(), 1U);
    for (const TimeInterval& each : found[0].intervals) {
      // Each span starts and ends beyond the limit, and lasts at most half a swing.
      for (const double t : {each.from, each.to}) {
        EXPECT_GE(extreme * kAmplitude * std::sin(kSwing * t), 0.9 - kQuantum);
      }
      EXPECT_LT(each.to - each.from, M_PI / kSwing);
    }
  }
}

// Readings beyond a stop by more than noise, quantization and the uncertainty of its position.
TEST(RecordingLimits, ReportReadingsWellBeyondAStop) {
  for (const double side : {1.0, -1.0}) {
    SCOPED_TRACE(side);
    Mechanism pendulum = make_pendulum();
    (side > 0.0 ? pendulum.joints[0].stops.lower : pendulum.joints[0].stops.upper) = true;
    Parameter& stop = pendulum.joint_parameter(
        0, side > 0.0 ? JointParameter::kStopLower : JointParameter::kStopUpper);
    Parameter& offset = pendulum.joint_parameter(0, JointParameter::kEncoderOffset);
    const auto found_at = [&](double position) {
      stop.value = side * position;
      SignalExamination out;
      find_readings_beyond_stops(pendulum, {kQuantum}, swinging(), out);
      return out.findings;
    };
    EXPECT_TRUE(found_at(-kAmplitude).empty());
    EXPECT_TRUE(found_at(-kAmplitude + 0.01).empty()) << "known to this only";
    const std::vector<Finding> found = found_at(-0.8);
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].message.code, MessageCode::kReadingBeyondStop);
    EXPECT_NEAR(found[0].size, 0.2, kQuantum);
    EXPECT_NEAR(std::abs(kAmplitude * std::sin(kSwing * found[0].from)), 0.81, 0.02);
    EXPECT_EQ(std::get<bool>(*found[0].message.find("is_lower")), side > 0.0);
    stop.free = true;  // anywhere within 0.1 rad
    EXPECT_TRUE(found_at(-0.91).empty());
    EXPECT_EQ(found_at(-0.8).size(), 1U);
    stop.prior_standard_deviation = 0.01;
    EXPECT_EQ(found_at(-0.91).size(), 1U);
    stop.free = false;
    offset.value = side * 0.2;  // readings are lower by this
    EXPECT_TRUE(found_at(-0.8).empty());
    offset.value = 0.0;
  }
}

// A safety limit beyond a stop has no effect; one at the stop or inside it has. The limit is a
// reading, so the encoder's zero shifts it.
TEST(RecordingLimits, ReportSafetyLimitsBeyondAStop) {
  for (const double side : {1.0, -1.0}) {
    SCOPED_TRACE(side);
    Mechanism pendulum = make_pendulum();
    test_support::place_stop(pendulum, 0, side, -side * 0.8, 0.5);
    const auto found_with = [&](double limit) {
      SignalExamination out;
      find_limits_beyond_stops(pendulum, {.limits = {{-limit, limit, 5.0}}}, out);
      return out.findings;
    };
    EXPECT_TRUE(found_with(0.7).empty());
    EXPECT_TRUE(found_with(0.8).empty());
    EXPECT_TRUE(found_with(0.0).empty()) << "no limit";
    const std::vector<Finding> found = found_with(1.0);
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].message.code, MessageCode::kLimitBeyondStop);
    EXPECT_EQ(found[0].severity, Severity::kWarning);
    EXPECT_NEAR(found[0].size, 0.2, 1e-12);
    EXPECT_EQ(std::get<Quantity>(*found[0].message.find("limit")).value, -side * 1.0);
    EXPECT_EQ(std::get<Quantity>(*found[0].message.find("stop")).value, -side * 0.8);
    pendulum.joint_parameter(0, JointParameter::kEncoderOffset).value = side * 0.3;
    EXPECT_TRUE(found_with(1.0).empty());
  }
}

// Differences of counts at 1 kHz are steps of 1.5 rad/s. The reported speed must be the motion's.
TEST(RecordingLimits, ReportSpeedsDespiteQuantization) {
  const std::vector<Finding> found = compared(swinging(), {.limits = {{0.0, 0.0, 5.0}}});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].message.code, MessageCode::kSpeedBeyondLimit);
  EXPECT_NEAR(std::abs(found[0].size), kAmplitude * kSwing, 0.3);
}

TEST(RecordingLimits, ReportCommandsBeyondAndAtTheirLimit) {
  const std::vector<Finding> beyond = compared(swinging(), {.command_limit = {3.0}});
  ASSERT_EQ(beyond.size(), 1U);
  EXPECT_EQ(beyond[0].message.code, MessageCode::kCommandBeyondLimit);
  EXPECT_NEAR(std::abs(beyond[0].size), 4.0, 1e-3);
  Recording clipped = swinging();
  auto& controls = clipped.segments[0].controls;
  controls = controls.cwiseMax(-3.0).cwiseMin(3.0);
  const std::vector<Finding> at = compared(clipped, {.command_limit = {3.0}});
  ASSERT_EQ(at.size(), 1U);
  EXPECT_EQ(at[0].message.code, MessageCode::kCommandAtLimit);
  EXPECT_EQ(at[0].severity, Severity::kNote);
}

}  // namespace
}  // namespace estimator
