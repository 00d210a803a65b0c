#include <gtest/gtest.h>

#include <Eigen/Geometry>
#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "estimator/fit/physical/joint_mobility.hpp"
#include "estimator/simulation/loops/loop_closure.hpp"
#include "tests/estimator/dynamics/interval_run.hpp"
#include "tests/estimator/dynamics/loop_rigs.hpp"

namespace estimator {
namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;

/// Poses of all bodies of a mechanism with one degree of freedom at one value of its coordinate.
struct FreedomPose {
  std::vector<Eigen::Vector3d> centers;    ///< centres of mass of the bodies [m]
  std::vector<Eigen::Matrix3d> rotations;  ///< body → world
  std::vector<double> joints;              ///< coordinates of the joints, smooth [rad or m]
};

/// Simulator of a mechanism with one degree of freedom s, which may contain loops. It integrates
/// Lagrange's equation m(s) s̈ + ½ m'(s) ṡ² + V'(s) = Q(s, ṡ). It computes the effective mass m and
/// the potential V by differences of the bodies' poses, without joint axes, trees or loop closures.
struct OneFreedom {
  std::function<FreedomPose(double)> pose;
  std::vector<double> mass;              ///< [kg]
  std::vector<Eigen::Matrix3d> inertia;  ///< about the centres of mass, body frame [kg·m²]
  std::vector<double> viscous;           ///< viscous friction of the joints
  std::vector<double> coulomb;           ///< Coulomb friction of the joints, constant
  double gravity = 9.82;                 ///< gravity along −y [m/s²]

  /// Returns coordinate and speed (s, ṡ) after `duration`, by the classical Runge–Kutta method. No
  /// joint may stop during the motion.
  Eigen::Vector2d move(const Eigen::Vector2d& start, double duration, int steps) const;

  /// Returns the joint rates for the unit speed ṡ = 1.
  Eigen::VectorXd joint_rates(double s) const;

 private:
  double effective_mass(double s) const;
  double potential_energy(double s) const;
};

Eigen::VectorXd joints_of(const FreedomPose& pose) {
  return Eigen::Map<const Eigen::VectorXd>(pose.joints.data(),
                                           static_cast<Eigen::Index>(pose.joints.size()));
}

constexpr double kReach = 2e-3;

/// Returns the derivative of f at s by central differences of sixth order.
template <typename F>
auto derivative(const F& f, double s) {
  const double h = kReach;
  using Value = decltype(f(s));
  const Value first = f(s + h) - f(s - h), second = f(s + 2.0 * h) - f(s - 2.0 * h),
              third = f(s + 3.0 * h) - f(s - 3.0 * h);
  return Value((45.0 * first - 9.0 * second + third) / (60.0 * h));
}

double OneFreedom::effective_mass(double s) const {
  double sum = 0.0;
  for (std::size_t i = 0; i < mass.size(); ++i) {
    const Eigen::Vector3d speed =
        derivative([&](double at) { return Eigen::Vector3d(pose(at).centers[i]); }, s);
    const Eigen::Matrix3d turn =
        derivative([&](double at) { return Eigen::Matrix3d(pose(at).rotations[i]); }, s);
    const Eigen::Matrix3d skew = pose(s).rotations[i].transpose() * turn;  // of ω, body frame
    const Eigen::Vector3d omega(skew(2, 1), skew(0, 2), skew(1, 0));
    sum += mass[i] * speed.squaredNorm() + omega.dot(inertia[i] * omega);
  }
  return sum;
}

double OneFreedom::potential_energy(double s) const {
  const FreedomPose at = pose(s);
  double sum = 0.0;
  for (std::size_t i = 0; i < mass.size(); ++i) sum += mass[i] * gravity * at.centers[i].y();
  return sum;
}

Eigen::VectorXd OneFreedom::joint_rates(double s) const {
  return derivative([&](double at) { return joints_of(pose(at)); }, s);
}

Eigen::Vector2d OneFreedom::move(const Eigen::Vector2d& start, double duration, int steps) const {
  const auto slope = [&](const Eigen::Vector2d& x) {
    const double m = effective_mass(x[0]);
    const double change = derivative([&](double at) { return effective_mass(at); }, x[0]);
    double force = -derivative([&](double at) { return potential_energy(at); }, x[0]);
    const Eigen::VectorXd rates = joint_rates(x[0]);
    for (Eigen::Index j = 0; j < rates.size(); ++j) {
      const auto at = static_cast<std::size_t>(j);
      const double rate = rates[j] * x[1];
      const double dry = rate == 0.0 ? 0.0 : std::copysign(coulomb[at], rate);
      force -= rates[j] * (viscous[at] * rate + dry);
    }
    return Eigen::Vector2d(x[1], (force - 0.5 * change * x[1] * x[1]) / m);
  };
  const double h = duration / steps;
  Eigen::Vector2d x = start;
  for (int step = 0; step < steps; ++step) {
    const Eigen::Vector2d a = slope(x), b = slope(x + 0.5 * h * a), c = slope(x + 0.5 * h * b),
                          d = slope(x + h * c);
    x += h / 6.0 * (a + 2.0 * (b + c) + d);
  }
  return x;
}

/// Without controls.
SegmentControls no_controls(const Mechanism& mechanism, int steps) {
  Segment segment;
  segment.period = kMotionStep;
  std::size_t motors = 0;
  for (const Joint& joint : mechanism.joints) motors += joint.motor.present ? 1 : 0;
  segment.controls = Eigen::MatrixXd::Zero(steps + 1, static_cast<Eigen::Index>(motors));
  segment.angles = Eigen::MatrixXd::Zero(steps + 1, 1);
  return {segment, even_edges(kMotionStep, steps), std::vector<ControlDelay>(motors)};
}

MotionInterval interval_of(const SegmentControls& controls, int steps, const Eigen::VectorXd& start,
                           const Eigen::VectorXd& guess) {
  return {.controls = &controls,
          .first_substep = 0,
          .last_substep = controls.first(steps),
          .first_sample = 0,
          .last_sample = steps + 1,
          .period = kMotionStep,
          .start = start,
          .guess = guess};
}

Matrix3d turned(double angle) {
  return Eigen::AngleAxisd(angle, Vector3d::UnitZ()).toRotationMatrix();
}

/// The two circles about the ends of crank and ground intersect at the rocker's end.
FreedomPose four_bar_pose(double crank) {
  const Vector3d A(kCrank * std::cos(crank), kCrank * std::sin(crank), 0.0);
  const Vector3d C(kGroundLink, 0.0, 0.0);
  const Vector3d way = C - A;
  const double d = way.norm();
  const double along = (kCoupler * kCoupler - kRocker * kRocker + d * d) / (2.0 * d);
  const double across = std::sqrt(kCoupler * kCoupler - along * along);
  const Vector3d e = way / d, n(-e.y(), e.x(), 0.0);
  const Vector3d B = A + along * e + across * n;
  const double coupler = std::atan2(B.y() - A.y(), B.x() - A.x());
  const double rocker = std::atan2(B.y(), B.x() - kGroundLink);
  return {{0.5 * A, 0.5 * (A + B) + turned(coupler) * Vector3d(0.0, -kOff, 0.0), 0.5 * (B + C)},
          {turned(crank), turned(coupler), turned(rocker)},
          {crank, coupler - crank, rocker - coupler, rocker}};
}

OneFreedom freedom_of(const Mechanism& mechanism, const std::vector<int>& bodies,
                      std::function<FreedomPose(double)> pose) {
  OneFreedom freedom;
  freedom.pose = std::move(pose);
  for (const int body : bodies) {
    freedom.mass.push_back(mechanism.parameter(body, BodyParameter::kMass).value);
    freedom.inertia.emplace_back(Vector3d(mechanism.parameter(body, BodyParameter::kJxx).value,
                                          mechanism.parameter(body, BodyParameter::kJyy).value,
                                          mechanism.parameter(body, BodyParameter::kJzz).value)
                                     .asDiagonal());
  }
  for (int j = 0; j < mechanism.joint_count(); ++j) {
    freedom.viscous.push_back(mechanism.joint_parameter(j, JointParameter::kViscous).value);
    freedom.coulomb.push_back(mechanism.joint_parameter(j, JointParameter::kCoulombTorque).value);
  }
  return freedom;
}

/// Runs both and compares the joints at the end.
void expect_same_motion(const Mechanism& mechanism, const OneFreedom& freedom, double s,
                        double speed, int steps, double tolerance) {
  const Eigen::VectorXd angles = joints_of(freedom.pose(s));
  const TreeProgram program(mechanism, choice_at(mechanism, angles));
  ASSERT_EQ(program.coordinate_count(), 1);
  const SegmentControls controls = no_controls(mechanism, steps);
  const Moved outcome =
      move(program, mechanism,
           interval_of(controls, steps, start_of(program, angles, speed * freedom.joint_rates(s)),
                       angles));
  const Eigen::Vector2d end = freedom.move({s, speed}, steps * kMotionStep, steps);
  const Eigen::VectorXd expected = joints_of(freedom.pose(end[0]));
  for (int j = 0; j < mechanism.joint_count(); ++j) {
    EXPECT_NEAR(std::remainder(outcome.angles(steps, j) - expected[j], 2.0 * M_PI), 0.0, tolerance)
        << mechanism.joints[static_cast<std::size_t>(j)].name;
  }
  EXPECT_GT((expected - angles).cwiseAbs().maxCoeff(), 0.3);  // it moved
  EXPECT_EQ(outcome.interval.log.unresolved, 0);
}

TEST(LoopMotion, AFourBarFollowsLagrangesEquation) {
  Mechanism mechanism = moving_four_bar();
  add_friction(mechanism, 1e-3, 0.0);
  const OneFreedom freedom = freedom_of(mechanism, {0, 1, 2}, four_bar_pose);
  expect_same_motion(mechanism, freedom, 0.7, 12.0, 400, 1e-7);  // full rotation
}

// All joints slip, and two of them reverse while the mechanism moves on: dead centres.
TEST(LoopMotion, DryFrictionActsInSingularConfigurations) {
  Mechanism mechanism = moving_four_bar();
  add_friction(mechanism, 5e-4, 2e-3);
  const OneFreedom freedom = freedom_of(mechanism, {0, 1, 2}, four_bar_pose);
  expect_same_motion(mechanism, freedom, 0.7, 25.0, 500, 2e-6);  // the reference steps over kinks
}

// A crank that drives a slider through a rod: revolute joints and a prismatic one in one loop.
TEST(LoopMotion, ASliderCrankFollowsLagrangesEquation) {
  const double r = 0.07, l = 0.22;
  const Vector3d x = Vector3d::UnitX(), y = Vector3d::UnitY(), z = Vector3d::UnitZ();
  Mechanism mechanism;
  mechanism.bodies = {{"crank"}, {"rod"}, {"slide"}};
  mechanism.joints = {joint("O", Joint::kGround, 0, z, x), joint("A", 0, 1, z, x),
                      joint("B", 1, 2, z, x), joint("rail", Joint::kGround, 2, x, y)};
  mechanism.joints[3].kind = JointKind::kPrismatic;
  make_parameters(mechanism);
  set_body(mechanism, 0, 0.2, {1.0, 1.0, 2e-4});
  set_body(mechanism, 1, 0.1, {1.0, 1.0, 5e-4});
  set_body(mechanism, 2, 0.3, {1.0, 1.0, 1.0});
  set_joint_points(mechanism, 0, Vector3d::Zero(), -0.4 * r * x);
  set_joint_points(mechanism, 1, 0.6 * r * x, -0.5 * l * x);
  set_joint_points(mechanism, 2, 0.5 * l * x, Vector3d::Zero());
  add_friction(mechanism, 1e-3, 0.0);
  const OneFreedom freedom = freedom_of(mechanism, {0, 1, 2}, [=](double crank) {
    const Vector3d A(r * std::cos(crank), r * std::sin(crank), 0.0);
    const double rod = std::asin(-A.y() / l);
    const Vector3d B = A + l * Vector3d(std::cos(rod), std::sin(rod), 0.0);
    return FreedomPose{{0.4 * A, 0.5 * (A + B), B},
                       {turned(crank), turned(rod), Matrix3d::Identity()},
                       {crank, rod - crank, -rod, B.x()}};
  });
  expect_same_motion(mechanism, freedom, 0.4, 9.0, 400, 1e-7);
}

// Crank and rocker about skew axes in space, a coupler between them with a universal joint at one
// end and a ball joint (three axes) at the other: seven joints, six constraints.
TEST(LoopMotion, ASpatialLoopFollowsLagrangesEquation) {
  const double r = 0.04, q = 0.16, l = 0.28;
  const Vector3d x = Vector3d::UnitX(), y = Vector3d::UnitY(), z = Vector3d::UnitZ();
  const Vector3d C(0.2, 0.02, 0.1);  // the rocker's bearing; it turns about world x
  Mechanism mechanism;
  mechanism.bodies = {{"crank"},       {"cross", true}, {"coupler"},
                      {"ball1", true}, {"ball2", true}, {"rocker"}};
  mechanism.joints = {joint("O", Joint::kGround, 0, z, x),
                      joint("U1", 0, 1, z, x),
                      joint("U2", 1, 2, y, z),
                      joint("S1", 2, 3, x, y),
                      joint("S2", 3, 4, y, z),
                      joint("S3", 4, 5, z, x),
                      joint("R", Joint::kGround, 5, x, y)};
  make_parameters(mechanism);
  set_body(mechanism, 0, 0.2, {2e-4, 2e-4, 3e-4});
  set_body(mechanism, 2, 0.15, {5e-5, 1e-3, 1.02e-3});
  set_body(mechanism, 5, 0.25, {6e-4, 1e-4, 6e-4});
  set_joint_points(mechanism, 0, Vector3d::Zero(), -0.5 * r * x);
  set_joint_points(mechanism, 1, 0.5 * r * x, Vector3d::Zero());
  set_joint_points(mechanism, 2, Vector3d::Zero(), -0.4 * l * x);
  set_joint_points(mechanism, 3, 0.6 * l * x, Vector3d::Zero());
  set_joint_points(mechanism, 5, Vector3d::Zero(), 0.5 * q * y);
  set_joint_points(mechanism, 6, C, -0.5 * q * y);
  for (const int j : {0, 1, 2, 6}) {
    mechanism.joint_parameter(j, JointParameter::kViscous).value = 1e-3 * (1 + j);
  }
  const auto pose = [=](double crank) {
    const Vector3d A(r * std::cos(crank), r * std::sin(crank), 0.0);
    const auto end = [&](double psi) -> Vector3d {
      return C + q * Vector3d(0.0, std::cos(psi), std::sin(psi));
    };
    double psi = 0.6;  // |B(ψ) − A| = l
    for (int round = 0; round < 60; ++round) {
      const Vector3d way = end(psi) - A;
      const double slope = 2.0 * way.dot(q * Vector3d(0.0, -std::sin(psi), std::cos(psi)));
      psi -= (way.squaredNorm() - l * l) / slope;
    }
    const Vector3d B = end(psi), d = (B - A) / l;
    // The cross rotates about z on the crank, the coupler about y of the cross.
    const Vector3d b = z.cross(d).normalized();
    Matrix3d coupler;
    coupler << d, b, d.cross(b);
    const Matrix3d rocker = Eigen::AngleAxisd(psi, x).toRotationMatrix();
    const double u1 = std::atan2(d.y(), d.x()) - crank;
    const double u2 = -std::asin(d.z());
    const Matrix3d E = coupler.transpose() * rocker;  // Rx(s1) Ry(s2) Rz(s3)
    return FreedomPose{{0.5 * A, A + 0.4 * l * d, 0.5 * (B + C)},
                       {turned(crank), coupler, rocker},
                       {crank, u1, u2, std::atan2(-E(1, 2), E(2, 2)), std::asin(E(0, 2)),
                        std::atan2(-E(0, 1), E(0, 0)), psi}};
  };
  const OneFreedom freedom = freedom_of(mechanism, {0, 2, 5}, pose);
  expect_same_motion(mechanism, freedom, 0.3, 8.0, 300, 1e-7);
}

// A pendulum geared to another, which drives a rack: all move with the first, and the friction of
// each resists them all.
TEST(LoopMotion, MimicJointsFollowLagrangesEquation) {
  const double gear = -1.7, before = 0.3, rack = 0.06, from = 0.02;
  const Vector3d x = Vector3d::UnitX(), y = Vector3d::UnitY(), z = Vector3d::UnitZ();
  Mechanism mechanism;
  mechanism.bodies = {{"slide"}, {"first"}, {"second"}};
  mechanism.joints = {joint("rail", Joint::kGround, 0, y, z), joint("1", Joint::kGround, 1, z, x),
                      joint("2", 1, 2, z, x)};
  mechanism.joints[0].kind = JointKind::kPrismatic;
  mechanism.mimic_joints = {{.joint = 0, .follows = 2, .ratio = rack, .offset = from},
                            {.joint = 2, .follows = 1, .ratio = gear, .offset = before}};
  make_parameters(mechanism);
  set_body(mechanism, 0, 0.3, {1.0, 1.0, 1.0});
  set_body(mechanism, 1, 0.2, {1.0, 1.0, 4e-4});
  set_body(mechanism, 2, 0.1, {1.0, 1.0, 3e-4});
  set_joint_points(mechanism, 1, Vector3d::Zero(), -0.05 * x);
  set_joint_points(mechanism, 2, 0.05 * x, -0.08 * x);
  add_friction(mechanism, 4e-4, 3e-3);
  const OneFreedom freedom = freedom_of(mechanism, {0, 1, 2}, [=](double angle) {
    const double turn = gear * angle + before, way = rack * turn + from;
    const Vector3d first(std::cos(angle), std::sin(angle), 0.0);
    const Vector3d second(std::cos(angle + turn), std::sin(angle + turn), 0.0);
    return FreedomPose{{way * y, 0.05 * first, 0.1 * first + 0.08 * second},
                       {Matrix3d::Identity(), turned(angle), turned(angle + turn)},
                       {way, angle, turn}};
  });
  expect_same_motion(mechanism, freedom, 0.4, 9.0, 300, 1e-7);
}

// Invariants: loops stay closed, and joints held by friction do not move.
TEST(LoopMotion, JointsOfALoopStickAndSlip) {
  DrivenFiveBar rig(8.0);
  const CoordinateChoice choice = choice_at(rig.mechanism, rig.angles);
  const TreeProgram program(rig.mechanism, choice);
  const int steps = 1500;
  const SegmentControls controls = driven(program, steps);
  const Moved outcome =
      move(program, rig.mechanism,
           interval_of(controls, steps, start_of(program, rig.angles, Eigen::VectorXd::Zero(5)),
                       rig.angles));
  EXPECT_EQ(outcome.interval.log.unresolved, 0);
  LoopClosure closure(rig.mechanism);
  int sticks = 0;
  for (const MotionEvent& event : outcome.interval.log.events) {
    for (const Contact contact : event.contacts) sticks += contact == Contact::kStick ? 1 : 0;
  }
  EXPECT_GT(sticks, 10);
  for (int k = 0; k <= steps; k += 50) {
    EXPECT_LT(closure.closure_violation(outcome.angles.row(k).transpose()).cwiseAbs().maxCoeff(),
              1e-7);
  }
}

// Creeping joints of a loop act on the same coordinates: a step limited by each alone would be too
// long for all together.
TEST(LoopMotion, CreepsWithinTheStepLimitOfItsFriction) {
  constexpr double kNoLimit = std::numeric_limits<double>::infinity();
  DrivenFiveBar rig(4.0);
  for (Joint& joint : rig.mechanism.joints) joint.transition_speed = 0.01;
  const TreeProgram program(rig.mechanism, choice_at(rig.mechanism, rig.angles));
  const Eigen::VectorXd start = start_of(program, rig.angles, Eigen::VectorXd::Zero(5));
  Eigen::VectorXd state(10);
  state << rig.angles, Eigen::VectorXd::Zero(5);
  const double longest = compute_friction_step_limits(rig.mechanism, {state}).near_rest;
  EXPECT_LT(longest, kMotionStep);
  const auto angles_with = [&](int parts, double near_rest = kNoLimit) {
    const SegmentControls controls = driven(program, 400, parts);
    MotionInterval interval = interval_of(controls, 400 * parts, start, rig.angles);
    interval.last_sample = 401;
    const Moved moved = move(program, rig.mechanism, interval, near_rest);
    EXPECT_TRUE(moved.interval.log.events.empty());
    EXPECT_EQ(moved.interval.log.cuts.empty(), near_rest == kNoLimit);
    return moved.angles;
  };
  const int enough = static_cast<int>(std::ceil(kMotionStep / longest));
  const Eigen::MatrixXd fine = angles_with(40 * enough);
  EXPECT_GT((fine.row(400) - fine.row(0)).cwiseAbs().maxCoeff(), 0.03);
  EXPECT_LT((angles_with(enough) - fine).cwiseAbs().maxCoeff(), 1e-5);
  EXPECT_LT((angles_with(1, longest) - fine).cwiseAbs().maxCoeff(), 1e-7);
}

// Every choice of coordinates describes the same motion.
TEST(LoopMotion, DoesNotDependOnTheChosenCoordinates) {
  DrivenFiveBar rig;
  const int steps = 600;
  const CoordinateChoice first = choice_at(rig.mechanism, rig.angles);
  Eigen::VectorXd reference;
  for (const std::vector<int>& independent :
       {std::vector<int>{0, 2}, std::vector<int>{0, 1}, std::vector<int>{1, 4}}) {
    CoordinateChoice choice{.independent = independent, .dependent = {}, .rows = first.rows};
    for (int j = 0; j < 5; ++j) {
      if (j != independent[0] && j != independent[1]) choice.dependent.push_back(j);
    }
    const TreeProgram program(rig.mechanism, choice);
    const SegmentControls controls = driven(program, steps);
    const Moved outcome =
        move(program, rig.mechanism,
             interval_of(controls, steps, start_of(program, rig.angles, Eigen::VectorXd::Zero(5)),
                         rig.angles));
    const Eigen::VectorXd end = outcome.angles.row(steps).transpose();
    if (reference.size() == 0) reference = end;
    EXPECT_LT((end - reference).cwiseAbs().maxCoeff(), 1e-7) << end.transpose();
  }
}

// Derivatives of readings and ends through stops and releases, by starts and parameters of every
// kind, including joint points, which affect the loop's closure.
class LoopSensitivities : public testing::TestWithParam<double> {};

TEST_P(LoopSensitivities, MatchDifferences) {
  DrivenFiveBar rig(GetParam());
  Mechanism& mechanism = rig.mechanism;
  const std::vector<int> free = {mechanism.index(1, BodyParameter::kMass),
                                 mechanism.index(3, BodyParameter::kJzz),
                                 mechanism.joint_parameter_index(4, JointParameter::kPointBx),
                                 mechanism.joint_parameter_index(1, JointParameter::kPointAx),
                                 mechanism.joint_parameter_index(0, JointParameter::kCoulombTorque),
                                 mechanism.joint_parameter_index(4, JointParameter::kViscous),
                                 mechanism.joint_parameter_index(2, JointParameter::kMotorGain)};
  for (const int index : free) mechanism.parameters[static_cast<std::size_t>(index)].free = true;
  const CoordinateChoice choice = choice_at(mechanism, rig.angles);
  const TreeProgram program(mechanism, choice);
  const int steps = 240;
  const SegmentControls controls = driven(program, steps);
  const MotionInterval interval =
      interval_of(controls, steps, start_of(program, rig.angles, Eigen::VectorXd::Constant(5, 0.3)),
                  rig.angles);
  EXPECT_GT(move(program, mechanism, interval).interval.log.events.size(), 3U);
  expect_slopes(program, mechanism, interval, 2e-4, 1e-6);
}

INSTANTIATE_TEST_SUITE_P(SlipAndStick, LoopSensitivities, testing::Values(1.0, 8.0));

}  // namespace
}  // namespace estimator
