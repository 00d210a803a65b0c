#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <vector>

#include "estimator/simulation/interval/interval_motion.hpp"
#include "tests/estimator/dynamics/interval_run.hpp"
#include "tests/support/mechanisms/example_mechanisms.hpp"
#include "tests/support/mechanisms/reference_rigs.hpp"
#include "tests/support/stopped_motion.hpp"

// Joints that hit their end stops, rest there and leave them: compared with simulators in minimal
// coordinates, and derivatives with differences.

namespace estimator {
namespace {

constexpr double kStopPeriod = 2e-3;

using namespace test_support;

/// A mechanism and its controls for some time.
struct StopRun {
  StopRun(const Mechanism& rig, double duration, double period = kStopPeriod,
          const std::function<double(double)>& control = {})
      : mechanism(rig), program(rig) {
    const int steps = static_cast<int>(std::lround(duration / period));
    segment.period = period;
    segment.controls =
        Eigen::MatrixXd::Zero(steps + 1, static_cast<Eigen::Index>(program.motor_joints().size()));
    for (int k = 0; k <= steps && control; ++k) segment.controls(k, 0) = control(k * period);
    controls = SegmentControls(segment, even_edges(period, steps),
                               std::vector<ControlDelay>(program.motor_joints().size()));
    count = steps;
  }

  MotionInterval from(const Eigen::VectorXd& start) const {
    return {.controls = &controls,
            .last_substep = controls.first(count),
            .last_sample = count + 1,
            .period = segment.period,
            .start = start};
  }
  Moved run(const Eigen::VectorXd& start) const { return move(program, mechanism, from(start)); }

  Mechanism mechanism;
  TreeProgram program;
  Segment segment;
  SegmentControls controls;
  int count = 0;
};

struct Happened {
  int impacts = 0, rests = 0, releases = 0;
};

Happened happened(const MotionInterval& interval) {
  Happened counts;
  Contacts before = interval.log.start;
  for (const MotionEvent& event : interval.log.events) {
    if (event.joint < 0) continue;
    const auto joint = static_cast<std::size_t>(event.joint);
    counts.impacts += event.impact != nullptr ? 1 : 0;
    counts.rests += !is_at_end_stop(before[joint]) && is_at_end_stop(event.contacts[joint]) ? 1 : 0;
    counts.releases += event.impact == nullptr && is_at_end_stop(before[joint]) ? 1 : 0;
    before = event.contacts;
  }
  return counts;
}

void expect_at_least(const Happened& least, const MotionInterval& interval) {
  const Happened counts = happened(interval);
  EXPECT_GE(counts.impacts, least.impacts);
  EXPECT_GE(counts.rests, least.rests);
  EXPECT_GE(counts.releases, least.releases);
}

/// Compares every joint's readings with those of another simulator.
void expect_motion(const StopRun& run, const Eigen::VectorXd& start, StoppedMotion other,
                   double tolerance, const Happened& least) {
  const Eigen::Index n = start.size() / 2;
  const Moved moved = run.run(start);
  other.q.head(n) = start.head(n);
  other.v.head(n) = start.tail(n);
  const Eigen::MatrixXd expected = other.sample(run.segment.period, run.count);
  EXPECT_LT((moved.angles - expected.leftCols(n)).cwiseAbs().maxCoeff(), tolerance);
  expect_at_least(least, moved.interval);
  EXPECT_EQ(moved.interval.log.unresolved, 0);
}

void expect_slopes(const StopRun& run, const Eigen::VectorXd& start, const Happened& least,
                   double tolerance = 2e-5) {
  expect_at_least(least, run.run(start).interval);
  expect_slopes(run.program, run.mechanism, run.from(start), tolerance);
}

constexpr double kSwing = 3.96e-3, kMass = 0.428, kDistance = 0.092;  // of make_pendulum

Mechanism pendulum_at_stop(double side, double position, double restitution) {
  Mechanism pendulum = make_pendulum();
  pendulum.joint_parameter(0, JointParameter::kViscous).value = 2e-4;
  place_stop(pendulum, 0, side, position, restitution);
  set_free(pendulum,
           {"P.J_zz", "1.b", side > 0.0 ? "1.stop_lower" : "1.stop_upper", "1.restitution"});
  return pendulum;
}

StoppedMotion pendulum_elsewhere(double side, double position, double restitution) {
  StoppedMotion rig =
      stopped_pendulum(kSwing + kMass * kDistance * kDistance, kMass * kDistance, 2e-4);
  rig.stops = {{0, side, position, restitution}};
  return rig;
}

// A pendulum that swings against a stop on either side, through many rebounds to rest. Rebounds too
// short to resolve have a height below 100 rad/s² · (1e-4 s)²/8.
TEST(StopMotion, OfAPendulumMatchesAnotherSimulator) {
  for (const double side : {1.0, -1.0}) {
    for (const double restitution : {0.0, 0.3, 0.7, 1.0}) {
      SCOPED_TRACE(::testing::Message() << side << " " << restitution);
      const Eigen::Vector2d start(side * 1.2, side * 0.5);
      // The stop is off the bottom, so the pendulum presses against it.
      expect_motion({pendulum_at_stop(side, side * 0.2, restitution), 4.0}, start,
                    pendulum_elsewhere(side, side * 0.2, restitution), 5e-7,
                    {restitution > 0.0 ? 4 : 1, restitution < 0.9 ? 1 : 0, 0});
    }
  }
}

// The sampling of the readings, and so the steps, changes the result only by their error.
TEST(StopMotion, DoesNotDependOnTheIntegrationStep) {
  const Eigen::Vector2d start(1.0, 0.0);
  for (const double period : {0.5e-3, 10e-3}) {
    expect_motion({pendulum_at_stop(1.0, -0.1, 0.8), 3.0, period}, start,
                  pendulum_elsewhere(1.0, -0.1, 0.8), 2e-6, {4, 0, 0});
  }
}

Mechanism double_pendulum(double restitution) {
  Mechanism chain = make_chain({.links = 2});
  for (int j = 0; j < 2; ++j) {
    chain.joint_parameter(j, JointParameter::kViscous).value = 1e-3;
  }
  place_stop(chain, 1, 1.0, -0.3, restitution);
  place_stop(chain, 1, -1.0, 0.4, restitution);
  set_free(chain,
           {"L1.m", "L2.J_zz", "2.b_x", "1.b", "2.stop_lower", "2.stop_upper", "2.restitution"});
  return chain;
}

StoppedMotion double_elsewhere(double restitution) {
  StoppedMotion rig = stopped_double_pendulum(0.2, 0.3, 1.5e-3, Eigen::Vector2d(1e-3, 1e-3));
  rig.stops = {{1, 1.0, -0.3, restitution}, {1, -1.0, 0.4, restitution}};
  return rig;
}

// A knee between two stops: the thigh's speed jumps with every impact; the knee rests at its stops
// and is pulled off them.
TEST(StopMotion, OfADoublePendulumMatchesAnotherSimulator) {
  for (const double restitution : {0.0, 0.4}) {
    SCOPED_TRACE(restitution);
    expect_motion({double_pendulum(restitution), 2.0}, Eigen::Vector4d(1.3, -0.1, 0.0, 0.0),
                  double_elsewhere(restitution), 1e-6, {3, 1, 1});
  }
  expect_motion({double_pendulum(1.0), 1.0}, Eigen::Vector4d(1.3, -0.1, 0.0, 0.0),
                double_elsewhere(1.0), 1e-6, {3, 0, 0});
}

Mechanism furuta_at_stops() {
  Mechanism furuta = make_furuta();
  furuta.joint_parameter(0, JointParameter::kViscous).value = 1e-3;
  furuta.joint_parameter(1, JointParameter::kViscous).value = 2e-4;
  place_stop(furuta, 1, -1.0, 0.5, 0.6);
  set_free(furuta, {"A.J_zz", "B.J_yy", "2.stop_upper", "2.restitution"});
  return furuta;
}

// A Furuta pendulum whose passive joint hits a stop: the impulse also acts on the arm.
TEST(StopMotion, OfAFurutaPendulumMatchesAnotherSimulator) {
  FurutaShape shape;
  shape.arm_inertia = 3e-3 + 0.238 * 0.128 * 0.128;
  StoppedMotion rig = stopped_furuta(shape);
  rig.stops = {{1, -1.0, 0.5, 0.6}};
  expect_motion({furuta_at_stops(), 2.0}, Eigen::Vector4d(0.0, -1.4, 2.0, 0.0), rig, 1e-6,
                {3, 0, 0});
}

/// A carriage on a spring between buffers.
Mechanism carriage(double coulomb) {
  Mechanism cart = make_pendulum({.mass = 0.5, .distance = 0.0, .motorised = true});
  cart.joints[0].kind = JointKind::kPrismatic;
  make_parameters(cart);
  cart.parameter(0, BodyParameter::kMass).value = 0.5;
  cart.joint_parameter(0, JointParameter::kStiffness).value = 8.0;
  cart.joint_parameter(0, JointParameter::kRestAngle).value = 0.3;
  cart.joint_parameter(0, JointParameter::kViscous).value = 0.1;
  cart.joint_parameter(0, JointParameter::kCoulombTorque).value = coulomb;
  cart.joint_parameter(0, JointParameter::kMotorGain).value = 1.0;
  place_stop(cart, 0, -1.0, 0.1, 0.5);
  set_free(cart, {"1.k_s", "1.b", "1.f_c", "1.stop_upper", "1.restitution"});
  EXPECT_EQ(cart.joint_parameter(0, JointParameter::kStopUpper).unit, "m");
  return cart;
}

TEST(StopMotion, OfASlidingJointMatchesAnotherSimulator) {
  StoppedMotion rig;
  rig.mass = [](const Eigen::Vector2d&) -> Eigen::Matrix2d {
    return Eigen::Vector2d(0.5, 1.0).asDiagonal();
  };
  rig.force = [](const Eigen::Vector2d& q, const Eigen::Vector2d& v) {
    return Eigen::Vector2d(-8.0 * (q[0] - 0.3) - 0.1 * v[0], 0.0);
  };
  rig.stops = {{0, -1.0, 0.1, 0.5}};
  expect_motion({carriage(0.0), 4.0}, Eigen::Vector2d(-0.4, 0.0), rig, 1e-6, {5, 1, 0});
}

// A spring presses a carriage on its buffer with 1.6 N, and the motor pulls it back. It must leave
// when the motor exceeds spring and friction, which is counted once. Friction must hold it when
// only the spring is exceeded. Both directions.
TEST(StopMotion, LeavesAStopIfForcesExceedFriction) {
  for (const double side : {1.0, -1.0}) {
    for (const double coulomb : {0.0, 0.4}) {
      SCOPED_TRACE(::testing::Message() << side << " " << coulomb);
      Mechanism cart = carriage(coulomb);
      if (side > 0.0) {
        cart.joints[0].stops.upper = false;
        place_stop(cart, 0, 1.0, -0.1, 0.5);
        cart.joint_parameter(0, JointParameter::kRestAngle).value = -0.3;
      }
      // 2 N/s away from the stop.
      const StopRun run(cart, 1.5, 1e-3, [&](double t) { return side * 2.0 * t; });
      const MotionInterval interval = run.run(Eigen::Vector2d(-side * 0.1, 0.0)).interval;
      const Happened counts = happened(interval);
      EXPECT_EQ(counts.releases, 1);
      for (const MotionEvent& event : interval.log.events) {
        if (event.impact != nullptr) continue;
        // The control's staircase equals a line from half a period on.
        EXPECT_NEAR(event.time, (1.6 + coulomb) / 2.0, 1e-3);
        EXPECT_EQ(event.contacts[0], contact_for_slip_direction(side));
      }
      EXPECT_GT(side * (interval.end[0] + side * 0.1), 0.01);
    }
  }
}

// Kinetic plus potential energy never grows, and is constant without losses.
TEST(StopMotion, NeverGainsEnergy) {
  for (const double restitution : {0.0, 0.5, 1.0}) {
    SCOPED_TRACE(restitution);
    Mechanism chain = double_pendulum(restitution);
    for (int j = 0; j < 2; ++j) chain.joint_parameter(j, JointParameter::kViscous).value = 0.0;
    place_stop(chain, 0, -1.0, 0.7, restitution);
    const StoppedMotion formulas =
        stopped_double_pendulum(0.2, 0.3, 1.5e-3, Eigen::Vector2d::Zero());
    const auto energy = [&](const Eigen::VectorXd& state) {
      const Eigen::Vector2d q = state.head(2), v = state.tail(2);
      return 0.5 * v.dot(formulas.mass(q) * v) -
             0.2 * 9.82 * (0.45 * std::cos(q[0]) + 0.15 * std::cos(q[0] + q[1]));
    };
    const StopRun run(chain, 0.05, 1e-3);
    Eigen::VectorXd state = Eigen::Vector4d(-1.8, 0.1, -1.0, 3.0);
    const double first = energy(state);
    double last = first;
    int impacts = 0;
    for (int piece = 0; piece < 60; ++piece) {
      const MotionInterval interval = run.run(state).interval;
      impacts += happened(interval).impacts;
      state = interval.end;
      const double now = energy(state);
      EXPECT_LE(now, last + 1e-7);  // 50 Runge–Kutta steps of 1 ms
      last = now;
    }
    EXPECT_GT(impacts, 5);
    if (restitution == 1.0) {
      EXPECT_NEAR(last, first, 1e-6);
    } else {
      EXPECT_LT(last, first - 0.01);
    }
  }
}

TEST(StopSensitivities, MatchDifferencesAcrossImpacts) {
  for (const double side : {1.0, -1.0}) {
    SCOPED_TRACE(side);
    const Mechanism pendulum = pendulum_at_stop(side, -side * 0.3, 0.8);
    // In the middle of an interval, in the middle of a step.
    expect_slopes({pendulum, 0.35}, Eigen::Vector2d(side * 0.6, 0.0), {1, 0, 0});
    expect_slopes({pendulum, 2.0}, Eigen::Vector2d(side * 0.6, -side), {3, 0, 0});
  }
}

TEST(StopSensitivities, MatchDifferencesAcrossTwoImpactsInOneStep) {
  Mechanism pendulum = pendulum_at_stop(1.0, -0.002, 0.8);
  place_stop(pendulum, 0, -1.0, 0.002, 0.8);
  set_free(pendulum, {"1.stop_upper"});
  expect_slopes({pendulum, 0.02, 10e-3}, Eigen::Vector2d(0.0, 1.1), {3, 0, 0});
}

// Rest does not depend on the earlier motion, and follows the stop.
TEST(StopSensitivities, MatchDifferencesIntoRest) {
  const Mechanism dead = pendulum_at_stop(1.0, 0.3, 0.0);
  expect_slopes({dead, 0.8}, Eigen::Vector2d(0.6, 0.0), {1, 1, 0});
  const Mechanism lively = pendulum_at_stop(1.0, 0.3, 0.3);
  expect_slopes({lively, 1.5}, Eigen::Vector2d(0.6, 0.0), {3, 1, 0});
}

TEST(StopSensitivities, MatchDifferencesAcrossJumpsOfOtherJointsAndRelease) {
  expect_slopes({double_pendulum(0.4), 1.2}, Eigen::Vector4d(1.3, -0.1, 0.0, 0.0), {3, 1, 1}, 1e-4);
  expect_slopes({double_pendulum(0.0), 1.2}, Eigen::Vector4d(1.3, -0.1, 0.0, 0.0), {2, 1, 1}, 1e-4);
  expect_slopes({furuta_at_stops(), 0.8}, Eigen::Vector4d(0.0, -1.4, 2.0, 0.0), {1, 0, 0});
}

TEST(StopSensitivities, MatchDifferencesAcrossReleaseUnderFriction) {
  const Mechanism cart = carriage(0.4);
  const StopRun run(cart, 2.0, 1e-3, [](double t) { return -2.2471 * std::max(0.0, t - 0.6); });
  expect_slopes(run, Eigen::Vector2d(0.02, 0.3), {2, 1, 1});
}

// A stop position that depends on another parameter.
TEST(StopSensitivities, MatchDifferencesOfDependentParameters) {
  Mechanism pendulum = pendulum_at_stop(1.0, -0.3, 0.8);
  place_stop(pendulum, 0, -1.0, 0.3, 0.8);
  const int lower = pendulum.joint_parameter_index(0, JointParameter::kStopLower);
  const int upper = pendulum.joint_parameter_index(0, JointParameter::kStopUpper);
  pendulum.dependencies.push_back({.parameter = upper, .constant = 0.0, .terms = {{lower, -1.0}}});
  const StopRun run(pendulum, 1.0);
  const Eigen::Vector2d start(0.1, 3.0);
  const Moved moved = run.run(start);
  EXPECT_GE(happened(moved.interval).impacts, 3);
  const auto slopes = slopes_of(run.program, pendulum, moved, {0});
  const auto end = [&](double by) {
    Mechanism values = pendulum;
    values.parameters[static_cast<std::size_t>(lower)].value += by;
    apply_dependencies(values);
    return move(run.program, values, run.from(start)).interval.end;
  };
  constexpr double kBy = 1e-7;
  const Eigen::VectorXd slope = (end(kBy) - end(-kBy)) / (2.0 * kBy);
  const auto place = std::ranges::find(run.program.motion_parameters(), lower) -
                     run.program.motion_parameters().begin();
  EXPECT_LT((slopes.end.col(2 + place) - slope).norm(), 2e-5 * slope.norm());
}

// An estimate may put nodes slightly beyond a stop. The joint is then put at the stop, and the
// motion depends on the stop's position instead of the node's.
TEST(StopMotion, MovesAnInitialPositionBeyondAStopToTheStop) {
  const Mechanism pendulum = pendulum_at_stop(1.0, 0.1, 0.5);
  const StopRun run(pendulum, 0.2);
  for (const double speed : {-0.7, 0.0, 0.7}) {
    SCOPED_TRACE(speed);
    const Moved beyond = run.run(Eigen::Vector2d(0.08, speed));
    const Moved at = run.run(Eigen::Vector2d(0.1, speed));
    EXPECT_EQ(beyond.angles(0, 0), 0.1);
    EXPECT_EQ(beyond.interval.end, at.interval.end);
    EXPECT_EQ(beyond.angles, at.angles);
    EXPECT_EQ(slopes_of(run.program, pendulum, beyond, {0}).end.col(0).norm(), 0.0);
    expect_slopes(run.program, pendulum, run.from(Eigen::Vector2d(0.08, speed)), 2e-5, 1e-7,
                  speed == 0.0 ? 1 : -1);
  }
}

}  // namespace
}  // namespace estimator
