#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <vector>

#include "estimator/fit/physical/joint_mobility.hpp"
#include "estimator/model/joint_friction.hpp"
#include "estimator/simulation/interval/interval_lane.hpp"
#include "estimator/simulation/interval/interval_motion.hpp"
#include "tests/estimator/dynamics/interval_run.hpp"
#include "tests/support/mechanisms/example_mechanisms.hpp"
#include "tests/support/refusal.hpp"

namespace estimator {
namespace {

constexpr double kBound = 0.01, kInertia = 1e-3;

/// A wheel with dry friction only, whose bound is a free parameter.
Mechanism creeping_wheel(double transition_speed) {
  Mechanism wheel = make_pendulum({.distance = 0.0, .inertia_swing = kInertia});
  wheel.parameter(GravityParameter::kGravity).value = 0.0;
  wheel.joints[0].transition_speed = transition_speed;
  wheel.joint_parameter(0, JointParameter::kCoulombTorque).value = kBound;
  wheel.joint_parameter(0, JointParameter::kCoulombTorque).free = true;
  return wheel;
}

SegmentControls uncontrolled(double step, int count) {
  Segment segment;
  segment.period = step;
  segment.controls.resize(count + 1, 0);
  return {segment, even_edges(step, count), {}};
}

/// With eleven samples.
MotionInterval interval_of(const SegmentControls& controls, int steps,
                           const Eigen::VectorXd& start) {
  return {.controls = &controls,
          .last_substep = controls.first(steps),
          .last_sample = 11,
          .period = controls.begin(steps) / 10.0,
          .start = start};
}

double near_rest_of(const Mechanism& mechanism, const Eigen::VectorXd& state) {
  return compute_friction_step_limits(mechanism, {state}).near_rest;
}

// J ω̇ = −B tanh(ω/s) has the solution sinh(ω/s) = sinh(ω₀/s) exp(−B t/(J s)): no event, no kink,
// and at rest the derivatives of a damper instead of a locked joint.
TEST(CreepMotion, MatchesTheRegularizedLaw) {
  constexpr double kCreep = 0.1, kTime = 0.15;
  const Mechanism mechanism = creeping_wheel(kCreep);
  const TreeProgram program(mechanism);
  const SegmentControls controls = uncontrolled(kTime / 150, 150);
  for (const double rate : {-1.0, 0.0, 0.02, 1.0}) {
    SCOPED_TRACE(rate);
    const Moved moved =
        move(program, mechanism, interval_of(controls, 150, Eigen::Vector2d(0.0, rate)));
    const auto slopes = slopes_of(program, mechanism, moved, {0});
    EXPECT_TRUE(moved.interval.log.events.empty());
    const double decay = std::exp(-kBound * kTime / (kInertia * kCreep));
    const double left = std::sinh(rate / kCreep) * decay;
    EXPECT_NEAR(moved.interval.end[1], kCreep * std::asinh(left), 1e-6);
    const double along_rate = std::cosh(rate / kCreep) * decay / std::sqrt(1.0 + left * left);
    EXPECT_NEAR(slopes.end(1, 1), along_rate, 1e-4 * along_rate);
    const double along_bound = -kTime / kInertia * left / std::sqrt(1.0 + left * left);
    EXPECT_NEAR(slopes.end(1, 2), along_bound, 1e-4 * std::abs(along_bound) + 1e-12);
  }
}

// Friction of 10 rad/s² with a transition velocity of 1 mrad/s is too steep for steps of 2 ms. From
// 0.5 rad/s, the last 50 ms are near rest, long enough to span several checkpoints.
TEST(CreepMotion, UsesShortStepsOnlyNearRest) {
  constexpr double kCreep = 1e-3, kStep = 2e-3, kRate = 0.5, kStops = kRate * kInertia / kBound;
  constexpr int kSteps = 50, kFineParts = 400;
  const Mechanism mechanism = creeping_wheel(kCreep);
  const TreeProgram program(mechanism);
  const SegmentControls coarse = uncontrolled(kStep, kSteps);
  const SegmentControls fine = uncontrolled(kStep / kFineParts, kSteps * kFineParts);
  for (const double side : {-1.0, 1.0}) {
    SCOPED_TRACE(side);
    const Eigen::Vector2d start(0.0, side * kRate);
    const double near_rest = near_rest_of(mechanism, start);
    EXPECT_DOUBLE_EQ(near_rest, 0.7 * kInertia * kCreep / kBound);
    const Moved moved = move(program, mechanism, interval_of(coarse, kSteps, start), near_rest);
    const Moved reference = move(program, mechanism, interval_of(fine, kSteps * kFineParts, start));
    EXPECT_TRUE(reference.interval.log.cuts.empty());
    const std::vector<double>& cuts = moved.interval.log.cuts;
    ASSERT_FALSE(cuts.empty());
    EXPECT_TRUE(std::ranges::is_sorted(cuts));
    EXPECT_GT(cuts.front(), kStops - kStep);
    EXPECT_LT(std::ssize(cuts), 1.1 * (kSteps * kStep - kStops) / near_rest);
    EXPECT_GT(std::ssize(cuts), 0.9 * (kSteps * kStep - kStops) / near_rest);
    EXPECT_LT((moved.angles - reference.angles).cwiseAbs().maxCoeff(), 1e-9);
    EXPECT_NEAR(moved.angles(10, 0), side * 0.5 * kRate * kStops, 1e-5);
    const double decay = std::exp(-kBound * kSteps * kStep / (kInertia * kCreep));
    EXPECT_NEAR(moved.interval.end[1], kCreep * std::asinh(std::sinh(kRate / kCreep) * decay),
                1e-6 * kCreep);
    const auto slopes = slopes_of(program, mechanism, moved, {0}).readings[0];
    const auto fine_slopes = slopes_of(program, mechanism, reference, {0}).readings[0];
    for (const int direction : {1, 2}) {
      for (int sample = 1; sample <= 10; ++sample) {
        EXPECT_NEAR(slopes(sample, direction), fine_slopes(sample, direction),
                    1e-4 * std::abs(fine_slopes(sample, direction)))
            << sample << " along " << direction;
      }
    }
  }
}

/// Accelerates at about 1e5 rad/s²: rest is passed in less than the shortest substep.
Mechanism falling_wheel() {
  Mechanism mechanism = creeping_wheel(1e-3);
  mechanism.parameter(GravityParameter::kGravity).value = 1e5;
  mechanism.parameter(0, BodyParameter::kMass).value = 0.01;
  for (const JointParameter along : {JointParameter::kPointBx, JointParameter::kPointBy}) {
    mechanism.joint_parameter(0, along).value = 0.1;
  }
  return mechanism;
}

TEST(CreepMotion, PassesRestAtAnySpeed) {
  const Mechanism mechanism = falling_wheel();
  const TreeProgram program(mechanism);
  constexpr int kSteps = 100, kParts = 1000;
  const double step = 1e-4;
  const Eigen::Vector2d start(0.3, -3.0);
  const SegmentControls coarse = uncontrolled(step, kSteps);
  const SegmentControls fine = uncontrolled(step / kParts, kSteps * kParts);
  const Moved moved =
      move(program, mechanism, interval_of(coarse, kSteps, start), near_rest_of(mechanism, start));
  const Moved reference = move(program, mechanism, interval_of(fine, kSteps * kParts, start));
  EXPECT_GT((moved.angles.col(0).array() - 0.3).abs().maxCoeff(), 0.5);
  EXPECT_LT((moved.angles - reference.angles).cwiseAbs().maxCoeff(), 1e-6);
}

// Substeps of the shortest length, which differences of times resolve only to round-off.
TEST(CreepMotion, StartsFromRestAtAnyTime) {
  const Mechanism mechanism = falling_wheel();
  const TreeProgram program(mechanism);
  const SegmentControls controls = uncontrolled(1e-4, 40);
  const Eigen::Vector2d start(0.3, 0.0);
  std::vector<MotionInterval> all;
  for (int first = 0; first < 30; ++first) {
    all.push_back({.controls = &controls,
                   .first_substep = controls.first(first),
                   .last_substep = controls.first(first + 10),
                   .period = 1.0,
                   .start = start});
  }
  std::vector<Eigen::MatrixXd> unused(all.size());
  IntervalIntegrator(program, mechanism, 1, near_rest_of(mechanism, start)).run(all, unused);
  EXPECT_GT(std::abs(all[0].end[0] - start[0]), 0.01);
  for (const MotionInterval& each : all) {
    EXPECT_LT((each.end - all[0].end).cwiseAbs().maxCoeff(), 1e-6);
  }
}

// Beside a joint that sticks, stops and breaks loose in the middle of short steps.
TEST(CreepMotion, WorksWithAJointThatSticks) {
  Mechanism mechanism = make_chain({.links = 2});
  mechanism.joints[1].transition_speed = 2e-3;
  mechanism.joint_parameter(0, JointParameter::kCoulombTorque).value = 0.05;
  mechanism.joint_parameter(1, JointParameter::kCoulombTorque).value = 0.03;
  mechanism.joint_parameter(1, JointParameter::kCoulombTorque).free = true;
  const TreeProgram program(mechanism);
  constexpr int kSteps = 1000, kParts = 100;
  const double step = 2e-3;
  const SegmentControls coarse = uncontrolled(step, kSteps);
  const SegmentControls fine = uncontrolled(step / kParts, kSteps * kParts);
  const Eigen::Vector4d start(0.5, -0.4, 0.0, 3.0);
  const double near_rest = near_rest_of(mechanism, start);
  ASSERT_GT(near_rest, step / kParts);
  const Moved moved = move(program, mechanism, interval_of(coarse, kSteps, start), near_rest);
  const Moved reference = move(program, mechanism, interval_of(fine, kSteps * kParts, start));
  EXPECT_GT(std::ssize(moved.interval.log.events), 2);
  EXPECT_EQ(moved.interval.log.events.size(), reference.interval.log.events.size());
  const std::vector<double>& cuts = moved.interval.log.cuts;
  const bool is_cut_between =
      std::ranges::any_of(moved.interval.log.events, [&](const MotionEvent& event) {
        const auto next = std::ranges::upper_bound(cuts, event.time);
        return next != cuts.begin() && next != cuts.end() && *next - next[-1] < 3.0 * near_rest;
      });
  EXPECT_TRUE(is_cut_between);
  EXPECT_LT((moved.angles - reference.angles).cwiseAbs().maxCoeff(), 1e-6);
  const auto slopes = slopes_of(program, mechanism, moved, {0}).readings[0];
  const auto fine_slopes = slopes_of(program, mechanism, reference, {0}).readings[0];
  const double size = fine_slopes.cwiseAbs().maxCoeff();
  EXPECT_LT((slopes - fine_slopes).cwiseAbs().maxCoeff(), 1e-4 * size);
}

TEST(CreepMotion, DoesNotDependOnTheOtherLanes) {
  const Mechanism mechanism = creeping_wheel(1e-3);
  const TreeProgram program(mechanism);
  const SegmentControls controls = uncontrolled(2e-3, 50);
  const double near_rest = near_rest_of(mechanism, Eigen::Vector2d::Zero());
  std::vector<MotionInterval> all;
  for (int i = 0; i < 20; ++i) {
    all.push_back({.controls = &controls,
                   .last_substep = controls.first(50),
                   .period = 1.0,
                   .start = Eigen::Vector2d(0.0, 0.1 * (i - 8))});
  }
  std::vector<Eigen::MatrixXd> unused(all.size());
  IntervalIntegrator(program, mechanism, 2, near_rest).run(all, unused);
  for (const MotionInterval& each : all) {
    const Moved alone = move(program, mechanism, interval_of(controls, 50, each.start), near_rest);
    EXPECT_EQ(alone.interval.end, each.end);
    EXPECT_EQ(alone.interval.log.cuts, each.log.cuts);
  }
}

// Steep friction without a jump is steep over a range of speeds, so its step limit holds
// everywhere.
TEST(FrictionStepLimits, DependOnTheFrictionLaw) {
  const Eigen::VectorXd state = Eigen::Vector2d::Zero();
  const FrictionStepLimits none = compute_friction_step_limits(creeping_wheel(0.0), {state});
  EXPECT_TRUE(std::isinf(none.everywhere));
  EXPECT_TRUE(std::isinf(none.near_rest));
  Mechanism mechanism = creeping_wheel(0.01);
  const FrictionStepLimits creeping = compute_friction_step_limits(mechanism, {state});
  EXPECT_TRUE(std::isinf(creeping.everywhere));
  EXPECT_DOUBLE_EQ(creeping.near_rest, 0.7 * kInertia * 0.01 / kBound);
  const auto set = [&](Makkar::Quantity quantity, double value) {
    mechanism.joint_parameter(0, friction_law_parameter<Makkar>(quantity)).value = value;
  };
  set(Makkar::kCoulomb, 2.0 * kBound);
  set(Makkar::kSlope, 50.0);
  const FrictionStepLimits both = compute_friction_step_limits(mechanism, {state});
  EXPECT_DOUBLE_EQ(both.everywhere, 0.35 * kInertia / (2.0 * kBound * 50.0));
  EXPECT_DOUBLE_EQ(both.near_rest, 0.7 * kInertia / (2.0 * kBound * 50.0 + kBound / 0.01));
}

constexpr double kDampingSteps = 0.6;  // of the time in which damping stops a joint

// Viscous friction b and quadratic drag c stop an inertia J at the rate (b + 2 c |ω|)/J.
TEST(FrictionStepLimits, FollowTheDampingOfTheMotion) {
  constexpr double kDamping = 10.0, kDrag = 0.5, kRate = 3.0;
  Mechanism mechanism = creeping_wheel(0.0);
  mechanism.joint_parameter(0, JointParameter::kViscous).value = kDamping;
  const auto limits = [&](double rate) {
    return compute_friction_step_limits(mechanism, {Eigen::Vector2d(0.0, rate)});
  };
  // Differences over 1e-3 rad/s of torques near 10 N·m are exact to 1e-11.
  EXPECT_NEAR(limits(0.0).everywhere * kDamping / kInertia, kDampingSteps, 1e-9);
  EXPECT_NEAR(limits(kRate).everywhere * kDamping / kInertia, kDampingSteps, 1e-9);
  EXPECT_TRUE(std::isinf(limits(0.0).near_rest));
  mechanism.joint_parameter(0, JointParameter::kQuadraticDrag).value = kDrag;
  const double damping = kDamping + 2.0 * kDrag * kRate;
  EXPECT_NEAR(limits(-kRate).everywhere * damping / kInertia, kDampingSteps, 1e-9);
}

// A back-EMF damps like viscous friction.
TEST(FrictionStepLimits, IncludeTheBackEmfOfAMotor) {
  constexpr double kGain = 2.0, kBackEmf = 5.0;
  Mechanism mechanism = creeping_wheel(0.0);
  mechanism.joints[0].motor.present = true;
  mechanism.joint_parameter(0, JointParameter::kMotorGain).value = kGain;
  mechanism.joint_parameter(0, JointParameter::kBackEmf).value = kBackEmf;
  const FrictionStepLimits limits =
      compute_friction_step_limits(mechanism, {Eigen::Vector2d::Zero()});
  EXPECT_NEAR(limits.everywhere * kGain * kBackEmf / kInertia, kDampingSteps, 1e-9);
}

// Steps down to 20 µs are used; friction that needs shorter ones is named.
TEST(FrictionStepLimits, NameFrictionThatIsTooStiff) {
  Mechanism mechanism = creeping_wheel(0.0);
  Parameter& viscous = mechanism.joint_parameter(0, JointParameter::kViscous);
  const auto compute = [&] {
    return compute_friction_step_limits(mechanism, {Eigen::Vector2d::Zero()}).everywhere;
  };
  viscous.value = kDampingSteps * kInertia / 2.1e-5;
  EXPECT_NEAR(compute(), 2.1e-5, 1e-12);
  viscous.value = kDampingSteps * kInertia / 1.9e-5;
  test_support::expect_parts(test_support::refusal<std::invalid_argument>(compute),
                             {"joint \"1\"", "1.b = ", "inertia", "less friction"});
}

/// ∫ e^{−0.4 |x|} |dx| between two speeds, by the midpoint rule.
double way_between(double from, double to) {
  constexpr int kParts = 200000;
  const double part = (to - from) / kParts;
  double sum = 0.0;
  for (int i = 0; i < kParts; ++i) sum += std::exp(-0.4 * std::abs(from + (i + 0.5) * part));
  return sum * std::abs(part);
}

TEST(ScaledSpeedParabola, MatchesTheIntegratedDistance) {
  for (const double side : {-1.0, 1.0}) {
    EXPECT_NEAR(ScaledSpeedParabola(side * 3.0, side * 0.5).transformed_length(),
                way_between(0.5, 3.0), 1e-8);
    EXPECT_NEAR(ScaledSpeedParabola(side * -2.0, side * 1.0).transformed_length(),
                way_between(-2.0, 1.0), 1e-8);
    EXPECT_NEAR(ScaledSpeedParabola(side * -80.0, side * 80.0).transformed_length(), 5.0, 1e-12);
    EXPECT_LT(ScaledSpeedParabola(side * 60.0, side * 100.0).transformed_length(), 1e-10);
  }
}

// From 8 down to 0 and back: 8 (1 − 2 s)² has the mean 8/3, which its ends do not show.
TEST(ScaledSpeedParabola, HandlesASpeedThatTurnsWithinTheStep) {
  for (const double side : {-1.0, 1.0}) {
    const ScaledSpeedParabola course(side * 8.0, side * 8.0 / 3.0, side * 8.0);
    EXPECT_NEAR(course.transformed_length(), 2.0 * way_between(0.0, 8.0), 1e-8);
    // At the initial rate, −32 per step.
    const double share = course.step_fraction_at_initial_slope(0.3);
    EXPECT_NEAR(way_between(8.0, 8.0 - 32.0 * share), 0.3, 1e-8);
  }
}

TEST(ScaledSpeedParabola, ExtrapolatesFromItsEnds) {
  for (const double side : {-1.0, 1.0}) {
    const double begin = side * -6.0, end = side * 1.5;  // linear in time
    const ScaledSpeedParabola course(begin, end);
    EXPECT_NEAR(
        way_between(begin, begin + (end - begin) * course.step_fraction_at_initial_slope(0.2)), 0.2,
        1e-8);
    EXPECT_NEAR(way_between(end, end + (end - begin) * course.step_fraction_at_final_slope(0.2)),
                0.2, 1e-8);
  }
  // Initially slower than on average: the mean decides. Twice as fast at the end.
  const ScaledSpeedParabola rising(0.0, 1.0 / 3.0, 1.0);  // s²
  EXPECT_NEAR(way_between(0.0, rising.step_fraction_at_initial_slope(0.1)), 0.1, 1e-8);
  EXPECT_NEAR(way_between(1.0, 1.0 + 2.0 * rising.step_fraction_at_final_slope(0.1)), 0.1, 1e-8);
}

TEST(ScaledSpeedParabola, IsUnlimitedFarFromRestOrWithoutRate) {
  EXPECT_EQ(ScaledSpeedParabola(7.0, 9.0).step_fraction_at_final_slope(0.3), HUGE_VAL);
  EXPECT_EQ(ScaledSpeedParabola(-7.0, -9.0).step_fraction_at_final_slope(0.3), HUGE_VAL);
  EXPECT_NEAR(
      way_between(7.0, 7.0 - 2.0 * ScaledSpeedParabola(9.0, 7.0).step_fraction_at_final_slope(0.3)),
      0.3, 1e-8);
  EXPECT_EQ(ScaledSpeedParabola(0.2, 0.2).step_fraction_at_initial_slope(0.3), HUGE_VAL);
  EXPECT_EQ(ScaledSpeedParabola(0.2, 0.2).step_fraction_at_final_slope(0.3), HUGE_VAL);
}

}  // namespace
}  // namespace estimator
