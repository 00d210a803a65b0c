#include "estimator/simulation/interval/interval_motion.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "estimator/dynamics/tree_inverse_dynamics.hpp"
#include "estimator/math/so3.hpp"
#include "tests/estimator/dynamics/interval_run.hpp"
#include "tests/estimator/dynamics/mechanism_edits.hpp"
#include "tests/support/mechanisms/example_mechanisms.hpp"

namespace estimator {
namespace {

constexpr double kPeriod = 1e-3, kStep = 2e-3;
constexpr int kSteps = 150;

/// A chain with tilted frames, dry friction in every joint, drag, a spring and two motors. The
/// first of three links is massless, the third of four is prismatic.
Mechanism skew_chain(int links, bool load, std::mt19937& random) {
  std::uniform_real_distribution<double> unit(-1.0, 1.0);
  Mechanism mechanism = make_chain({.links = links});
  for (int j = 0; j < links; ++j) {
    const auto at = static_cast<std::size_t>(j);
    mechanism.joints[at].frame_b =
        exp_so3(Eigen::Vector3d(unit(random), unit(random), unit(random))).toRotationMatrix() *
        mechanism.joints[at].frame_b;
    mechanism.joints[at].motor.present = j == 0 || j == 2;
    const auto set = [&](JointParameter quantity, double value) {
      mechanism.joint_parameter(j, quantity).value = value;
    };
    set(JointParameter::kViscous, 1e-3);
    set(JointParameter::kQuadraticDrag, 2e-4);
    set(JointParameter::kCoulombTorque, 0.02 + 0.05 * std::abs(unit(random)));
    set(JointParameter::kStribeckTorque, 0.01);
    set(JointParameter::kStribeckRate, 2.0);
    set(JointParameter::kMotorGain, 0.4);
    set(JointParameter::kBackEmf, 0.05);
    set(JointParameter::kShaftInertia, 1e-4);
    if (load) set(JointParameter::kLoadFriction, 4e-3);
    if (j == 1) set(JointParameter::kStiffness, 0.3);
  }
  if (links == 3) {
    mechanism.bodies[0].massless = true;
    for (int i = 0; i < Mechanism::kBodyParameters; ++i) {
      mechanism.parameter(0, static_cast<BodyParameter>(i)).value = 0.0;
    }
  }
  if (links == 4) mechanism.joints[2].kind = JointKind::kPrismatic;
  mechanism.parameter(GravityParameter::kTiltX).value = 0.1;
  return mechanism;
}

Segment driven(int motors, std::mt19937& random) {
  std::uniform_real_distribution<double> unit(-1.0, 1.0);
  Segment segment;
  segment.period = kPeriod;
  const int samples = static_cast<int>(std::lround(kSteps * kStep / kPeriod)) + 1;
  segment.controls.resize(samples, motors);
  for (int m = 0; m < motors; ++m) {
    double level = 0.0;
    for (int k = 0; k < samples; ++k) {
      if (k % 37 == 5 * m) level = unit(random);
      segment.controls(k, m) = level + 0.2 * std::sin(0.05 * k);
    }
  }
  segment.angles = Eigen::MatrixXd::Zero(samples, 1);
  return segment;
}

MotionInterval whole(const SegmentControls& controls, const Eigen::VectorXd& start) {
  return {.controls = &controls,
          .first_substep = 0,
          .last_substep = controls.first(kSteps),
          .first_sample = 0,
          .last_sample = static_cast<int>(std::lround(kSteps * kStep / kPeriod)) + 1,
          .period = kPeriod,
          .start = start};
}

// Random mechanisms that stick, slip and reverse, with and without load-dependent friction. Between
// events, where differences of the readings give rates and accelerations, the inverse dynamics must
// be in equilibrium with the friction of slipping joints, and friction must be able to hold the
// others. At events, rates do not jump.
TEST(IntervalIntegrator, MatchesTheInverseDynamicsWithStickAndSlip) {
  constexpr double kFine = 1e-4;
  constexpr int kHold = 10, kCount = 3000;  // steps of a held command, and in all
  std::mt19937 random(5);
  std::uniform_real_distribution<double> unit(-1.0, 1.0);
  std::size_t events = 0;
  int sticking = 0, slipping = 0;
  for (int seed = 0; seed < 24; ++seed) {
    SCOPED_TRACE(seed);
    const Mechanism mechanism = skew_chain(1 + seed % 4, seed % 3 == 2, random);
    const TreeProgram program(mechanism);
    const std::vector<int> motors = program.motor_joints();
    const Segment segment = driven(static_cast<int>(motors.size()), random);
    const SegmentControls controls(segment, even_edges(kFine, kCount),
                                   std::vector<ControlDelay>(motors.size()));
    const int n = mechanism.joint_count();
    Eigen::VectorXd start(2 * n);
    for (double& each : start) each = 0.5 * unit(random);
    if (seed % 5 == 0) start.tail(n).setZero();
    const Moved moved = move(program, mechanism,
                             {.controls = &controls,
                              .last_substep = controls.first(kCount),
                              .last_sample = kCount + 1,
                              .period = kFine,
                              .start = start});
    const ContactLog& log = moved.interval.log;
    EXPECT_EQ(log.unresolved, 0);
    events += log.events.size();
    TreeInverseDynamics<double> dynamics(mechanism, parameter_values(mechanism));
    double fastest = 0.0;
    for (int k = kHold / 2; k + 2 <= kCount; k += kHold) {
      const auto is_near = [&](const MotionEvent& event) {
        return std::abs(event.time - k * kFine) < 2.5 * kFine;
      };
      if (std::ranges::any_of(log.events, is_near)) continue;
      Contacts contacts = log.start;
      for (const MotionEvent& event : log.events) {
        if (event.time < k * kFine) contacts = event.contacts;
      }
      const auto at = [&](int offset) -> Eigen::VectorXd {
        return moved.angles.row(k + offset).transpose();
      };
      const JointVector<double> rate = (8.0 * (at(1) - at(-1)) - at(2) + at(-2)) / (12.0 * kFine);
      const JointVector<double> acceleration =
          (16.0 * (at(1) + at(-1)) - 30.0 * at(0) - at(2) - at(-2)) / (12.0 * kFine * kFine);
      JointVector<double> control = JointVector<double>::Zero(n), imbalance;
      for (std::size_t m = 0; m < motors.size(); ++m) {
        control[motors[m]] = controls.value(controls.first(k), static_cast<int>(m));
      }
      dynamics.torque_residual(at(0), rate, acceleration, control, imbalance);
      fastest = std::max(fastest, acceleration.cwiseAbs().maxCoeff());
      for (int j = 0; j < n; ++j) {
        const Contact contact = contacts[static_cast<std::size_t>(j)];
        const double bound = dynamics.dry_friction_bound(j, rate[j]);
        ++(contact == Contact::kStick ? sticking : slipping);
        if (contact == Contact::kStick) {
          EXPECT_EQ(at(2)[j], at(-2)[j]);
          EXPECT_LE(std::abs(imbalance[j]), bound + 1e-5);
        } else {
          EXPECT_GT(slip_direction(contact) * rate[j], 0.0);
          EXPECT_NEAR(imbalance[j], -slip_direction(contact) * bound, 1e-5) << "at " << k * kFine;
        }
      }
    }
    const Eigen::MatrixXd bend = moved.angles.topRows(kCount - 1) -
                                 2.0 * moved.angles.middleRows(1, kCount - 1) +
                                 moved.angles.bottomRows(kCount - 1);
    EXPECT_LT(bend.cwiseAbs().maxCoeff(), 2.0 * fastest * kFine * kFine);
  }
  EXPECT_GT(events, 30U);
  EXPECT_GT(sticking, 100);
  EXPECT_GT(slipping, 5000);
}

// Which intervals share lanes, and how many lanes are used, must not change results. Derivatives of
// few intervals are chained from shorter spans, which changes only round-off.
TEST(IntervalIntegrator, DoesNotDependOnTheOtherLanes) {
  std::mt19937 random(9);
  std::uniform_real_distribution<double> unit(-1.0, 1.0);
  Mechanism mechanism = skew_chain(3, true, random);
  mechanism.joint_parameter(0, JointParameter::kViscous).free = true;
  mechanism.joint_parameter(1, JointParameter::kCoulombTorque).free = true;
  const TreeProgram program(mechanism);
  const Segment segment = driven(2, random);
  const SegmentControls controls(segment, even_edges(kStep, kSteps), std::vector<ControlDelay>(2));
  std::vector<MotionInterval> together;
  for (int i = 0; i < 37; ++i) {
    Eigen::VectorXd start(6);
    for (double& each : start) each = unit(random);
    together.push_back(whole(controls, start));
  }
  std::vector<MotionInterval> alone = together;
  std::vector<Eigen::MatrixXd> angles(together.size()), alone_angles(together.size());
  std::vector<IntervalSensitivities::IntervalDerivatives> slopes(together.size()),
      alone_slopes(together.size());
  IntervalIntegrator motion(program, mechanism);
  IntervalSensitivities derivatives(program, mechanism, joint_sensors({0, 2}));
  motion.run(together, angles);
  derivatives.run(together, slopes);
  std::size_t last = alone.size();
  for (const std::size_t count : {1u, 6u, 1u, 3u, 8u, 11u}) {
    last -= count;
    motion.run(std::span(alone).subspan(last, count), std::span(alone_angles).subspan(last, count));
    derivatives.run(std::span(alone).subspan(last, count),
                    std::span(alone_slopes).subspan(last, count));
    for (std::size_t i = last; i < last + count; ++i) {
      EXPECT_EQ(alone[i].end, together[i].end) << i;
      EXPECT_EQ(alone_angles[i], angles[i]) << i;
      EXPECT_EQ(alone[i].checkpoints.size() > together[i].checkpoints.size(), count <= 3) << i;
      const double rounding = count <= 8 ? 1e-13 : 0.0;
      EXPECT_TRUE(alone_slopes[i].end.isApprox(slopes[i].end, rounding)) << i;
      EXPECT_TRUE(alone_slopes[i].readings[1].isApprox(slopes[i].readings[1], rounding)) << i;
    }
  }
}

// Long intervals are split at checkpoints and run in parallel. Chaining must lose nothing: neither
// samples at checkpoints, nor contacts, nor control jumps there.
TEST(IntervalSensitivities, MatchDifferencesAcrossCheckpoints) {
  std::mt19937 random(21);
  Mechanism mechanism = skew_chain(3, false, random);
  mechanism.joint_parameter(1, JointParameter::kCoulombTorque).free = true;
  mechanism.joint_parameter(0, JointParameter::kInputDelay).free = true;
  mechanism.joint_parameter(2, JointParameter::kMotorGain).free = true;
  const TreeProgram program(mechanism);
  const Segment segment = driven(2, random);
  const SegmentControls controls(segment, even_edges(0.2 * kPeriod, 10 * kSteps),
                                 {{1e-4, true}, {0.0, false}});
  std::vector<MotionInterval> in_legs = {whole(controls, Eigen::VectorXd::LinSpaced(6, -0.8, 0.9))};
  in_legs[0].last_substep = controls.first(10 * kSteps);
  std::vector<Eigen::MatrixXd> angles(1);
  IntervalIntegrator(program, mechanism).run(in_legs, angles);
  EXPECT_GE(in_legs[0].checkpoints.size(), 10U);
  EXPECT_GT(in_legs[0].log.events.size(), 5U);
  std::vector<MotionInterval> at_once = in_legs;
  at_once[0].checkpoints.clear();
  std::vector<IntervalSensitivities::IntervalDerivatives> legs(1), whole_slopes(1);
  const IntervalSensitivities slopes(program, mechanism, joint_sensors({0, 1, 2}));
  slopes.run(in_legs, legs);
  slopes.run(at_once, whole_slopes);
  const auto expect_same = [](const IntervalSensitivities::RowMajor& a,
                              const IntervalSensitivities::RowMajor& b) {
    ASSERT_EQ(a.rows(), b.rows());
    EXPECT_LT((a - b).cwiseAbs().maxCoeff(), 1e-11 * b.cwiseAbs().maxCoeff());
  };
  expect_same(legs[0].end, whole_slopes[0].end);
  for (std::size_t j = 0; j < 3; ++j) {
    expect_same(legs[0].readings[j], whole_slopes[0].readings[j]);
  }
}

// Derivatives of ends and readings through stops, releases and reversals, by every start coordinate
// and every kind of motion parameter, against central differences.
TEST(IntervalSensitivities, MatchDifferencesAcrossStickSlipEvents) {
  std::mt19937 random(2);
  for (const bool load : {false, true}) {
    SCOPED_TRACE(load);
    Mechanism mechanism = skew_chain(2, load, random);
    mechanism.joints[1].motor.present = true;
    mechanism.joint_parameter(1, JointParameter::kMotorGain).value = 0.1;
    const std::vector<int> free = {
        mechanism.index(0, BodyParameter::kMass),
        mechanism.index(1, BodyParameter::kJzz),
        mechanism.joint_parameter_index(1, JointParameter::kPointBx),
        mechanism.joint_parameter_index(0, JointParameter::kCoulombTorque),
        mechanism.joint_parameter_index(1, JointParameter::kStribeckTorque),
        mechanism.joint_parameter_index(0, JointParameter::kMotorGain),
        mechanism.index(GravityParameter::kTiltX),
        mechanism.joint_parameter_index(
            1, load ? JointParameter::kLoadFriction : JointParameter::kQuadraticDrag)};
    for (const int index : free) mechanism.parameters[static_cast<std::size_t>(index)].free = true;
    const TreeProgram program(mechanism);
    const Segment segment = driven(2, random);
    const SegmentControls controls(segment, even_edges(kStep, kSteps),
                                   std::vector<ControlDelay>(2));
    const Eigen::Vector4d start(0.4, -0.3, 1.5, -1.0);
    const MotionInterval interval = whole(controls, start);
    int stops = 0;
    for (const MotionEvent& event : move(program, mechanism, interval).interval.log.events) {
      stops += event.acceleration_before != 0.0 ? 1 : 0;
    }
    EXPECT_GE(stops, 2);
    // Round-off of 1e-14/1e-7, and event times that are kinks of second order.
    expect_slopes(program, mechanism, interval, 2e-5);
  }
}

/// A wheel without gravity, driven against dry friction by B + a − c t: it breaks loose, and
/// friction stops it again at t = 2a/c, a³/(1.5 c² J) further on.
struct DrivenWheel {
  static constexpr double kBound = 0.01, kExcess = 5e-4, kFall = 1.0, kInertia = 1e-3;

  static Mechanism mechanism() {
    Mechanism wheel = make_pendulum({.distance = 0.0, .inertia_swing = kInertia});
    wheel.parameter(GravityParameter::kGravity).value = 0.0;
    wheel.joints[0].motor.present = true;
    wheel.joint_parameter(0, JointParameter::kCoulombTorque).value = kBound;
    wheel.joint_parameter(0, JointParameter::kMotorGain).value = 1.0;
    return wheel;
  }
  static double reach() { return std::pow(kExcess, 3) / (1.5 * kFall * kFall * kInertia); }
};

// A joint that breaks loose has zero speed, and so it has when it stops again within the step. If
// both were taken for the same event, the joint would be released again and again, and then driven
// backward by its own friction.
TEST(IntervalIntegrator, ResolvesAJointThatSlipsAndStopsWithinAStep) {
  const Mechanism mechanism = DrivenWheel::mechanism();
  const TreeProgram program(mechanism);
  for (const double direction : {-1.0, 1.0}) {
    Segment segment;
    segment.period = 1e-5;
    segment.controls.resize(401, 1);
    for (int k = 0; k < 401; ++k) {
      const double middle = (k + 0.5) * segment.period;
      segment.controls(k, 0) =
          direction * (DrivenWheel::kBound + DrivenWheel::kExcess - DrivenWheel::kFall * middle);
    }
    const SegmentControls controls(segment, even_edges(4e-3, 1), {ControlDelay{}});
    const MotionInterval interval = move(program, mechanism,
                                         {.controls = &controls,
                                          .last_substep = controls.first(1),
                                          .period = 1.0,
                                          .start = Eigen::Vector2d::Zero()})
                                        .interval;
    EXPECT_EQ(static_cast<double>(interval.log.start[0]), direction);
    ASSERT_EQ(interval.log.events.size(), 1u);
    EXPECT_EQ(interval.log.events[0].contacts, Contacts{Contact::kStick});
    // A staircase of 400 steps differs from the line by 1/400² of its slope, halfway.
    EXPECT_NEAR(interval.log.events[0].time, 2.0 * DrivenWheel::kExcess, 3e-8);
    EXPECT_EQ(interval.end[1], 0.0);
    EXPECT_NEAR(interval.end[0], direction * DrivenWheel::reach(), 1e-4 * DrivenWheel::reach());
  }
}

}  // namespace
}  // namespace estimator
