#include "estimator/diagnostics/signal/channels.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <utility>
#include <vector>

#include "tests/estimator/diagnostics/made_up_motion.hpp"
#include "tests/support/mechanisms/example_mechanisms.hpp"

namespace estimator {
namespace {

using namespace test_support;

constexpr double kDiscCount = 2.0 * M_PI / 4096.0;  // [rad]

Recording recorded(const MadeUpMotion& motion, double rate, double noise, double quantum,
                   unsigned seed) {
  Segment segment;
  segment.period = 1.0 / rate;
  segment.start = 2.0;
  segment.angles =
      as_read(motion.angles(rate, static_cast<int>(6.0 * rate), seed), noise, quantum, seed);
  segment.controls.resize(segment.angles.rows(), 0);
  return {"run", {segment}};
}

std::vector<Finding> struck(const Mechanism& mechanism, const Recording& recording,
                            double quantum) {
  SignalExamination out;
  find_undescribed_stops(mechanism, {quantum}, recording, out);
  return out.findings;
}

/// A rig drawn at random.
MadeUpMotion drawn(std::mt19937& random) {
  const auto between = [&](double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random);
  };
  return {.stiffness = between(10.0, 80.0),
          .viscous = between(0.05, 1.0),
          .dry = between(0.0, 6.0),
          .push = between(0.0, 80.0),
          .stop = 1e9};
}

// Sticking friction, torque jumps, reversals and turns through the upright are no stop.
TEST(StopImpacts, AreNotReportedWithoutAStop) {
  std::mt19937 random(5);
  int alarms = 0;
  for (unsigned seed = 0; seed < 60; ++seed) {
    const MadeUpMotion motion = drawn(random);
    const double rate = seed % 3 == 0 ? 1000.0 : seed % 3 == 1 ? 250.0 : 100.0;
    const double quantum = seed % 2 == 0 ? kDiscCount : 0.0, noise = seed % 2 == 0 ? 0.0 : 1e-3;
    alarms +=
        !struck(make_pendulum({}), recorded(motion, rate, noise, quantum, seed), quantum).empty();
  }
  EXPECT_EQ(alarms, 0);
}

// Between two stops, pushed to and fro: both are found, with position and restitution.
TEST(StopImpacts, AreFoundOnBothSides) {
  std::mt19937 random(6);
  int found = 0, stops = 0;
  for (unsigned seed = 0; seed < 40; ++seed) {
    MadeUpMotion motion = drawn(random);
    motion.push = 80.0;
    motion.dry = 1.0;
    motion.stop = 0.6;
    motion.start = 0.3;
    const double rate = seed % 2 == 0 ? 1000.0 : 300.0, quantum = seed % 4 < 2 ? kDiscCount : 0.0;
    const Recording recording = recorded(motion, rate, 3e-4, quantum, seed);
    const std::vector<Finding> findings = struck(make_pendulum({}), recording, quantum);
    stops += 2;
    for (const Finding& finding : findings) {
      EXPECT_EQ(finding.message.code, MessageCode::kUndescribedStop);
      EXPECT_NEAR(std::abs(finding.size), 0.6, 0.02) << seed;
      EXPECT_GE(finding.from, 2.0);
      ASSERT_GT(finding.intervals.size(), 1U) << "from the first strike to the last";
      EXPECT_EQ(std::get<bool>(*finding.message.find("is_upper")), finding.size > 0.0);
      ++found;
    }
    ASSERT_LE(findings.size(), 2U);
  }
  EXPECT_GE(found, 0.9 * stops);
}

// Positions are in the joint's coordinate: an encoder's zero shifts the stop.
TEST(StopImpacts, AreReportedAsJointCoordinates) {
  MadeUpMotion motion{.push = 80.0, .stop = 0.6, .start = 0.3};
  Mechanism mechanism = make_pendulum({});
  const Recording recording = recorded(motion, 1000.0, 3e-4, 0.0, 1);
  const std::vector<Finding> here = struck(mechanism, recording, 0.0);
  ASSERT_FALSE(here.empty());
  mechanism.joint_parameter(0, JointParameter::kEncoderOffset).value = 0.2;
  const std::vector<Finding> there = struck(mechanism, recording, 0.0);
  ASSERT_EQ(there.size(), here.size());
  EXPECT_NEAR(there[0].size, here[0].size + 0.2, 1e-9);
}

// A stop that the rig file describes is not reported; one elsewhere, or on the other side, is.
TEST(StopImpacts, AtDescribedStopsAreNotReported) {
  MadeUpMotion motion{.push = 80.0, .stop = 0.6, .start = 0.3};
  const Recording recording = recorded(motion, 1000.0, 3e-4, 0.0, 1);
  Mechanism mechanism = make_pendulum({});
  const std::size_t both = struck(mechanism, recording, 0.0).size();
  ASSERT_EQ(both, 2U);
  mechanism.joints[0].stops.upper = true;
  mechanism.joint_parameter(0, JointParameter::kStopUpper).value = 0.61;
  const std::vector<Finding> lower = struck(mechanism, recording, 0.0);
  ASSERT_EQ(lower.size(), 1U);
  EXPECT_LT(lower[0].size, 0.0);
  mechanism.joint_parameter(0, JointParameter::kStopUpper).value = 0.9;
  EXPECT_EQ(struck(mechanism, recording, 0.0).size(), 2U);
}

// A free stop starts at the furthest reading and the ratio of speeds: beyond the readings, the
// model would not be sensitive to it. Fixed stops, and stops with a prior, keep their values.
TEST(InitialStops, AreTakenFromImpacts) {
  MadeUpMotion motion;
  motion.push = 80.0;
  motion.stop = 0.6;
  motion.start = 0.3;
  const Recording recording = recorded(motion, 1000.0, 3e-4, 0.0, 1);
  const auto examined = [&](double lower, double upper, bool is_free, double prior) {
    Mechanism mechanism = make_pendulum({});
    mechanism.joints[0].stops = {true, true};
    for (const auto& [which, value] : {std::pair(JointParameter::kStopLower, lower),
                                       std::pair(JointParameter::kStopUpper, upper),
                                       std::pair(JointParameter::kRestitution, 0.9)}) {
      Parameter& parameter = mechanism.joint_parameter(0, which);
      parameter.value = value;
      parameter.free = is_free;
      parameter.prior_mean = value;
      parameter.prior_standard_deviation = prior;
    }
    SignalExamination out;
    find_initial_stops(mechanism, {0.0}, {recording}, out);
    EXPECT_EQ(struck(mechanism, recording, 0.0).empty(), is_free && std::isinf(prior));
    return std::pair(apply_repairs(mechanism, {recording}, out).mechanism, out.findings);
  };
  constexpr double kNone = std::numeric_limits<double>::infinity();
  for (const double given : {0.75, 0.45, 1.5}) {
    const auto [mechanism, findings] = examined(-given, given, true, kNone);
    const auto value = [&](JointParameter which) {
      return mechanism.joint_parameter(0, which).value;
    };
    EXPECT_NEAR(value(JointParameter::kStopLower), -0.6, 0.02) << given;
    EXPECT_NEAR(value(JointParameter::kStopUpper), 0.6, 0.02) << given;
    EXPECT_NEAR(value(JointParameter::kRestitution), 0.5, 0.1) << given;
    ASSERT_EQ(findings.size(), 2U);
    EXPECT_EQ(findings[0].message.code, MessageCode::kMisplacedStop);
    EXPECT_EQ(findings[0].severity, Severity::kNote);
    EXPECT_TRUE(findings[0].treated);
  }
  for (const double prior : {kNone, 0.1}) {
    const auto [mechanism, findings] = examined(-0.75, 0.75, prior < kNone, prior);
    EXPECT_EQ(mechanism.joint_parameter(0, JointParameter::kStopUpper).value, 0.75);
    EXPECT_EQ(mechanism.joint_parameter(0, JointParameter::kRestitution).value, 0.9);
    EXPECT_TRUE(findings.empty());
  }
}

}  // namespace
}  // namespace estimator
