#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <variant>
#include <vector>

#include "estimator/calibrate/calibrate.hpp"
#include "estimator/diagnostics/description/description_errors.hpp"
#include "estimator/diagnostics/misfit/misfit_causes.hpp"
#include "service/messages/message_text.hpp"
#include "tests/support/mechanisms/example_mechanisms.hpp"
#include "tests/support/mechanisms/reference_rigs.hpp"
#include "tests/support/stopped_motion.hpp"

// End stops that the rig file gives at a wrong position.

namespace estimator {
namespace {

using namespace test_support;

using service::describe_finding;

constexpr double kStopNoise = 1e-3;   // [rad]
constexpr double kStopPeriod = 4e-3;  // [s]
constexpr double kStopRestitution = 0.6;

struct StoppedRig {
  Mechanism mechanism;
  std::vector<Recording> recordings;
};

std::vector<Recording> record_stopped(StoppedMotion motion, const Eigen::Vector2d& q,
                                      const Eigen::Vector2d& v, int joints) {
  motion.q = q;
  motion.v = v;
  const Eigen::MatrixXd angles = motion.sample(kStopPeriod, 1000).leftCols(joints);
  return {{"run", {undriven(with_noise(angles, kStopNoise, 3), kStopPeriod)}}};
}

/// A pendulum that swings against an upper stop at 1 rad.
StoppedRig pendulum_at_stop() {
  constexpr double kInertia = 3.96e-3, kMass = 0.428, kDistance = 0.092, kViscous = 3e-4;
  StoppedMotion motion =
      stopped_pendulum(kInertia + kMass * kDistance * kDistance, kMass * kDistance, kViscous);
  motion.stops = {{0, -1.0, 1.0, kStopRestitution}};
  StoppedRig rig{make_pendulum(), record_stopped(motion, {-1.6, 0.0}, {0.0, 0.0}, 1)};
  place_stop(rig.mechanism, 0, -1.0, 1.0, kStopRestitution);
  free_parameters(rig.mechanism, {"P.J_zz", "1.b"}, 1.3);
  return rig;
}

/// A Furuta pendulum whose arm, which no gravity moves, is between stops at ±0.9 rad, or hits an
/// upper stop only.
StoppedRig arm_at_stops(bool has_lower) {
  FurutaShape shape;
  shape.arm_inertia = 3e-3 + 0.238 * 0.128 * 0.128;
  StoppedMotion motion = stopped_furuta(shape);
  motion.stops = {{0, -1.0, 0.9, kStopRestitution}};
  if (has_lower) motion.stops.push_back({0, 1.0, -0.9, kStopRestitution});
  StoppedRig rig{make_furuta(), record_stopped(motion, {0.0, 0.4}, {4.0, 0.0}, 2)};
  rig.mechanism.joints[0].motor.present = false;
  rig.mechanism.joint_parameter(0, JointParameter::kViscous).value = shape.viscous[0];
  rig.mechanism.joint_parameter(1, JointParameter::kViscous).value = shape.viscous[1];
  place_stop(rig.mechanism, 0, -1.0, 0.9, kStopRestitution);
  if (has_lower) place_stop(rig.mechanism, 0, 1.0, -0.9, kStopRestitution);
  free_parameters(rig.mechanism, {"A.J_zz", "B.J_yy", "1.b", "2.b"}, 1.3);
  return rig;
}

const std::vector<Message>& causes_of(const Finding& finding) {
  return std::get<std::vector<Message>>(*finding.message.find("causes"));
}

double cause_size(const Message& cause) { return std::get<Quantity>(*cause.find("size")).value; }

// A stop that is off by 5 % is the first cause, not a shifted zero of the encoder, and its position
// is found.
TEST(MisplacedStops, PrecedeShiftedZeros) {
  for (const StoppedRig& rig : {pendulum_at_stop(), arm_at_stops(true)}) {
    EXPECT_TRUE(examine_description(rig.mechanism, rig.recordings).findings.empty());
    for (const double factor : {1.05, 0.95}) {
      SCOPED_TRACE(rig.mechanism.joint_count() * factor);
      Mechanism described = rig.mechanism;
      Parameter& stop = described.joint_parameter(0, JointParameter::kStopUpper);
      const double truth = stop.value;
      stop.value *= factor;
      const std::vector<Finding> findings = examine_description(described, rig.recordings).findings;
      ASSERT_EQ(findings.size(), 1U);
      EXPECT_EQ(describe_finding(findings[0]).kind, "misplaced-stop")
          << describe_finding(findings[0]).what;
      EXPECT_EQ(causes_of(findings[0]).size(), 1U) << describe_finding(findings[0]).what;
      EXPECT_NEAR(findings[0].size, truth, 0.1 * std::abs(truth - stop.value));
    }
  }
}

// Without gravity, and with one stop, a shifted zero has the same effect: both are reported, the
// stop first, each with its size.
TEST(MisplacedStops, AreReportedBesideEquivalentZeros) {
  StoppedRig rig = arm_at_stops(false);
  rig.mechanism.joint_parameter(0, JointParameter::kStopUpper).value = 0.945;
  const std::vector<Finding> findings = examine_description(rig.mechanism, rig.recordings).findings;
  ASSERT_EQ(findings.size(), 1U);
  const std::vector<Message>& causes = causes_of(findings[0]);
  ASSERT_EQ(causes.size(), 2U) << describe_finding(findings[0]).what;
  EXPECT_EQ(causes[0].code, MessageCode::kMisplacedStop);
  EXPECT_NEAR(cause_size(causes[0]), 0.9, 5e-3);
  EXPECT_EQ(causes[1].code, MessageCode::kShiftedZero);
  EXPECT_NEAR(cause_size(causes[1]), 0.045, 5e-3);
}

// An error of a stop that is too small to make the description fail is found in the residuals.
TEST(MisplacedStops, AreFoundInResiduals) {
  StoppedRig rig = pendulum_at_stop();
  rig.mechanism.joint_parameter(0, JointParameter::kStopUpper).value = 1.01;
  const std::vector<Finding> findings =
      find_misfit_causes(calibrate(rig.mechanism, rig.recordings), rig.mechanism, rig.recordings);
  ASSERT_FALSE(findings.empty());
  EXPECT_EQ(causes_of(findings[0]).front().code, MessageCode::kMisplacedStop)
      << describe_finding(findings[0]).what;
  EXPECT_EQ(findings[0].severity, Severity::kWarning);
  EXPECT_NEAR(cause_size(causes_of(findings[0]).front()), 1.0, 1e-3);
}

}  // namespace
}  // namespace estimator
