#include "tests/estimator/dynamics/tree_motion.hpp"
#include "tests/estimator/dynamics/mechanism_edits.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <random>
#include <string>
#include <vector>

#include "estimator/model/mechanisms/chain.hpp"
#include "tests/support/mechanisms/furuta.hpp"
#include "tests/support/mechanisms/pendulum.hpp"
#include "tests/support/mechanisms/rollout.hpp"
#include "tests/support/reference_simulators.hpp"

namespace estimator {
namespace {

// Angles every `period`, rows from time 0, integrated in steps of period / steps_per_period.
Eigen::MatrixXd integrate(const Mechanism& mechanism, const Eigen::VectorXd& angles,
                          const Eigen::VectorXd& rates, const Eigen::VectorXd& control,
                          double period, int steps_per_period) {
  TreeMotion<double> motion(mechanism, parameter_values(mechanism));
  JointState<double> state{angles, rates, {}};
  const JointVector<double> zero = JointVector<double>::Zero(angles.size());
  MotionInput<double> input{{0.0, period / steps_per_period, zero, zero}};
  motion.settle(state, input);
  Eigen::MatrixXd result(control.size() + 1, angles.size());
  result.row(0) = angles;
  for (Eigen::Index k = 0; k < control.size(); ++k) {
    input[0].control[0] = control[k];
    for (int step = 0; step < steps_per_period; ++step) {
      motion.advance(state, input);
    }
    result.row(k + 1) = state.angle;
  }
  return result;
}

Mechanism furuta_of(const test_support::ReferenceFuruta& rig) {
  Mechanism mechanism = make_furuta(
      {.inertia_A = {1e-4, rig.J_Azz, rig.J_Azz}, .inertia_B = {rig.J_Bxx, rig.J_Byy, rig.J_Bzz}});
  const auto set = [&](int joint, JointQuantity quantity, double value) {
    mechanism.joint_parameter(joint, quantity).value = value;
  };
  set(0, JointQuantity::kShaftInertia, rig.J_shaft);
  set(0, JointQuantity::kViscous, rig.b_1);
  set(1, JointQuantity::kViscous, rig.b_2);
  set(0, JointQuantity::kCoulombTorque, rig.tau_c1);
  set(1, JointQuantity::kCoulombTorque, rig.tau_c2);
  set(0, JointQuantity::kMotorGain, rig.K);
  set(0, JointQuantity::kBackEmf, rig.k_e);
  mechanism.parameter(WorldQuantity::kTiltX).value = rig.tilt.x();
  mechanism.parameter(WorldQuantity::kTiltZ).value = rig.tilt.z();
  mechanism.parameter(WorldQuantity::kGravity).value = rig.g;
  return mechanism;
}

// Compares with equations of motion written by hand. Geometry, Coriolis terms, tilt, shaft, motor
// and back-EMF each change the trajectory by orders of magnitude more than the tolerance. The table
// shows the order of convergence, 4 or better; an integrator stage that reads the wrong state
// lowers it.
TEST(TreeMotion, ConvergesWithFourthOrderToTheFurutasEquationsOfMotion) {
  test_support::ReferenceFuruta rig;
  rig.b_1 = 1e-3;
  rig.b_2 = 1e-4;
  rig.J_shaft = 4e-4;
  rig.K = 0.07;
  rig.k_e = 0.05;
  rig.tilt = {0.02, 0.0, -0.03};
  const double period = 0.02;
  Eigen::VectorXd u(75);
  for (Eigen::Index k = 0; k < u.size(); ++k) u[k] = 2.0 * std::sin(0.3 * static_cast<double>(k));
  const Eigen::MatrixXd reference =
      test_support::simulate(rig, Eigen::Vector4d(0.2, 2.5, 0.5, -1.0), u, period);
  double before = 0.0;
  for (const int steps : {2, 4, 8}) {
    const Eigen::MatrixXd angles = integrate(furuta_of(rig), Eigen::Vector2d(0.2, 2.5),
                                             Eigen::Vector2d(0.5, -1.0), u, period, steps);
    const double error = (angles - reference.leftCols(2)).cwiseAbs().maxCoeff();
    std::printf("  h = %.4f s   largest angle error %.2e rad\n", period / steps, error);
    if (before > 0.0) {
      EXPECT_GT(std::log2(before / error), 3.8);
    }
    before = error;
  }
  EXPECT_LT(before, 1e-6);
}

// Exact stick and slip with a Stribeck excess, over dozens of reversals until rest. A missed event
// or a wrong decision between sticking and reversing departs from the reference at once.
TEST(TreeMotion, FollowsAPendulumThroughStickAndSlipUntilItRests) {
  test_support::ReferencePendulum rig;
  rig.b = 2e-4;
  rig.c = 1e-5;
  rig.tau_c = 0.006;
  rig.tau_s = 0.008;
  rig.zeta = 4.0;
  Mechanism mechanism = make_pendulum({.inertia_swing = rig.J});
  mechanism.joint_parameter(0, JointQuantity::kViscous).value = rig.b;
  mechanism.joint_parameter(0, JointQuantity::kQuadraticDrag).value = rig.c;
  mechanism.joint_parameter(0, JointQuantity::kCoulombTorque).value = rig.tau_c;
  mechanism.joint_parameter(0, JointQuantity::kStribeckTorque).value = rig.tau_s - rig.tau_c;
  mechanism.joint_parameter(0, JointQuantity::kStribeckRate).value = rig.zeta;
  mechanism.parameter(WorldQuantity::kGravity).value = rig.g;
  const double period = 0.004;
  const int count = 7000;
  const Eigen::MatrixXd reference =
      test_support::simulate(rig, Eigen::Vector2d(3.0, 0.0), period, count);
  ASSERT_EQ(reference(count, 1), 0.0) << "the reference must have come to rest";
  const Eigen::MatrixXd angles =
      integrate(mechanism, Eigen::VectorXd::Constant(1, 3.0), Eigen::VectorXd::Zero(1),
                Eigen::VectorXd::Zero(count), period, 1);
  EXPECT_LT((angles.col(0) - reference.col(0)).cwiseAbs().maxCoeff(), 1e-6);
}

// SPOOK in maximal coordinates must converge to the same motion, here for a joint described from
// child to parent and for two arms on one body, which no reference simulator covers. SPOOK's error
// is of first order, so a step ten times smaller must come ten times closer.
TEST(TreeMotion, IsTheLimitOfSpookOnABranchedTree) {
  Mechanism mechanism = make_chain({.links = 3});
  // Link 3 hangs from link 1 instead of link 2, and its joint has link 1 as the child.
  mechanism.joints[2].body_a = 0;
  test_support::describe_from_child(mechanism, 2);
  mechanism.joint_parameter(2, JointQuantity::kViscous).value = 2e-3;
  mechanism.joint_parameter(1, JointQuantity::kStiffness).value = 0.1;
  mechanism.joint_parameter(1, JointQuantity::kRestAngle).value = 0.4;
  mechanism.joint_parameter(0, JointQuantity::kConstantTorque).value = 0.02;
  ASSERT_TRUE(is_tree(mechanism));
  const Eigen::Vector3d angles(0.7, -0.4, 0.9), rates(1.0, -2.0, 0.5);
  const Eigen::MatrixXd exact =
      integrate(mechanism, angles, rates, Eigen::VectorXd::Zero(50), 0.01, 4);
  double before = 0.0;
  for (const int steps : {10, 100}) {
    const double h = 0.01 / steps;
    for (Joint& each : mechanism.joints) each.damping_time = 2.0 * h;
    const Eigen::MatrixXd spook =
        rollout(mechanism, angles, rates, Eigen::MatrixXd(50 * steps, 0), h);
    const double error = (spook.row(50 * steps) - exact.row(50)).cwiseAbs().maxCoeff();
    if (before > 0.0) {
      EXPECT_NEAR(before / error, 10.0, 2.0);
    }
    before = error;
  }
  EXPECT_LT(before, 5e-3);
}

// Friction that grows with the bearing load depends on the acceleration that it causes. The
// pendulum's equation with the magnitude of its bearing force, written by hand, must hold at every
// state. The rotation of the joint frame about the axis must not matter.
TEST(TreeMotion, UsesTheMagnitudeOfTheBearingLoadInAnyFrame) {
  const test_support::ReferencePendulum rig;
  const double friction = 2e-3;
  for (const double turn : {0.0, 0.25 * M_PI}) {
    Mechanism mechanism = make_pendulum({.inertia_swing = rig.J});
    mechanism.parameter(WorldQuantity::kGravity).value = rig.g;
    mechanism.joint_parameter(0, JointQuantity::kLoadFriction).value = friction;
    const Eigen::Matrix3d about_axis =
        Eigen::AngleAxisd(turn, Eigen::Vector3d::UnitX()).toRotationMatrix();
    mechanism.joints[0].frame_a *= about_axis;
    mechanism.joints[0].frame_b *= about_axis;
    TreeForwardDynamics<double> dynamics(mechanism, parameter_values(mechanism));
    for (const double angle : {-2.9, -1.0, 0.1, 2.0}) {
      for (const double rate : {-4.0, 0.5, 9.0}) {
        JointVector<double> acceleration;
        dynamics.accelerate(JointVector<double>::Constant(1, angle),
                            JointVector<double>::Constant(1, rate), JointVector<double>::Zero(1),
                            {rate < 0.0 ? Contact::kBackward : Contact::kForward}, acceleration);
        const double across = rig.m * (rig.l * acceleration[0] + rig.g * std::sin(angle));
        const double along = rig.m * (rig.l * rate * rate + rig.g * std::cos(angle));
        const double dry = friction * std::hypot(across, along);
        EXPECT_NEAR((rig.J + rig.m * rig.l * rig.l) * acceleration[0] +
                        rig.m * rig.g * rig.l * std::sin(angle) + std::copysign(dry, rate),
                    0.0, 1e-6)
            << "frame turned by " << turn << " rad, at " << angle << " rad, " << rate << " rad/s";
      }
    }
  }
}

// A wheel without gravity, driven against dry friction by B + a − c t: it breaks loose, and
// friction stops it at t = 2a/c, a quarter of the step, a³/(1.5 c² J) further on.
class DrivenWheel {
 public:
  static constexpr double kStep = 4e-3, kBound = 0.01, kExcess = 5e-4, kFall = 1.0;
  static constexpr double kInertia = 1e-3;

  DrivenWheel() : mechanism_(make_pendulum({.distance = 0.0, .inertia_swing = kInertia})) {
    mechanism_.parameter(WorldQuantity::kGravity).value = 0.0;
    mechanism_.joint_parameter(0, JointQuantity::kCoulombTorque).value = kBound;
    mechanism_.joint_parameter(0, JointQuantity::kMotorGain).value = 1.0;
  }

  static JointVector<double> one(double value) { return JointVector<double>::Constant(1, value); }
  static double reach() { return std::pow(kExcess, 3) / (1.5 * kFall * kFall * kInertia); }

  // A substep that starts `begin` into a step and drives the wheel in either direction.
  static ControlLine<double> pull(double direction, double begin, double end) {
    return {begin, end, one(direction * (kBound + kExcess)), one(-direction * kFall)};
  }

  TreeMotion<double> motion() const { return {mechanism_, parameter_values(mechanism_)}; }

 private:
  Mechanism mechanism_;
};

// A joint that breaks loose has zero speed, and so it has when it stops again within the step. If
// both were taken for the same event, the joint would be released again and again, and then driven
// backward by its own friction.
TEST(TreeMotion, ResolvesAJointThatSlipsAndStopsWithinAStep) {
  for (const double direction : {-1.0, 1.0}) {
    TreeMotion<double> motion = DrivenWheel().motion();
    JointState<double> state{DrivenWheel::one(0.0), DrivenWheel::one(0.0), {}};
    const MotionInput<double> input{DrivenWheel::pull(direction, 0.0, DrivenWheel::kStep)};
    motion.settle(state, input);
    EXPECT_EQ(static_cast<double>(state.contacts[0]), direction);
    motion.advance(state, input);
    EXPECT_EQ(state.contacts[0], Contact::kStick);
    EXPECT_EQ(state.rate[0], 0.0);
    EXPECT_NEAR(state.angle[0], direction * DrivenWheel::reach(), 1e-6 * DrivenWheel::reach());
    EXPECT_EQ(motion.unresolved_steps(), 0);
  }
}

// Twenty pulls within a step, each of which exceeds the holding torque, make the wheel slip and
// stop more often than is resolved. It must then stand still rather than be moved by friction, the
// step must be counted, and the next, ordinary step must be exact again.
TEST(TreeMotion, HoldsAndCountsChatter) {
  constexpr int kPulls = 20;
  constexpr double kLength = 1e-3;  // of a pull
  const auto rise = [](double begin) -> ControlLine<double> {
    return {begin, begin + kLength,
            DrivenWheel::one(DrivenWheel::kBound - 3.0 * DrivenWheel::kExcess),
            DrivenWheel::one(4.0 * DrivenWheel::kExcess / kLength)};
  };
  TreeMotion<double> motion = DrivenWheel().motion();
  JointState<double> state{DrivenWheel::one(0.0), DrivenWheel::one(0.0), {}};
  MotionInput<double> input;
  for (int i = 0; i < kPulls; ++i) input.push_back(rise(i * kLength));
  motion.settle(state, input);
  motion.advance(state, input);
  EXPECT_EQ(motion.unresolved_steps(), 1);
  EXPECT_EQ(state.rate[0], 0.0);
  EXPECT_GT(state.angle[0], 0.0);
  // It breaks loose after three quarters of a pull, and gains J ω = a T/8.
  motion.advance(state, {rise(0.0)});
  EXPECT_EQ(motion.unresolved_steps(), 1);
  EXPECT_NEAR(DrivenWheel::kInertia * state.rate[0], DrivenWheel::kExcess * kLength / 8.0, 1e-14);
}

// Derivatives by start and parameters against central differences, over a motion that stops,
// sticks, breaks loose and reverses. The event times must move with the parameters.
TEST(TreeMotion, DifferentiatesThroughTheInstantsOfStickAndSlip) {
  test_support::ReferenceFuruta rig;
  rig.b_1 = 1e-3;
  rig.tau_c1 = 0.02;
  rig.tau_c2 = 1e-3;
  rig.K = 0.07;
  Mechanism mechanism = furuta_of(rig);
  const std::vector<std::string> names = {"A.J_zz",  "B.J_yy", "1.tau_c",
                                          "2.tau_c", "1.K",    "gravity.tilt_x"};
  const auto angles_for = [&](const Eigen::VectorXd& change, auto zero) {
    using T = decltype(zero);
    std::vector<T> parameters;
    for (const Parameter& parameter : mechanism.parameters)
      parameters.emplace_back(parameter.value);
    JointState<T> state;
    state.angle.resize(2);
    state.rate.resize(2);
    state.angle << T(0.1), T(0.6);
    state.rate << T(0.3), T(-0.5);
    for (Eigen::Index i = 0; i < change.size(); ++i) {
      T* target = i < 2 ? &(i == 0 ? state.angle[1] : state.rate[0])
                        : &parameters[static_cast<std::size_t>(
                              mechanism.find_parameter(names[static_cast<std::size_t>(i - 2)]))];
      *target += change[i];
      if constexpr (std::is_same_v<T, Dual>) target->derivatives()[i] = 1.0;
    }
    TreeMotion<T> motion(mechanism, parameters);
    const JointVector<T> none = JointVector<T>::Constant(2, T(0.0));
    MotionInput<T> input{{T(0.0), T(0.004), none, none}};
    motion.settle(state, input);
    std::vector<T> result;
    for (int step = 0; step < 500; ++step) {
      input[0].control[0] = T(0.9 * std::sin(0.02 * step));
      motion.advance(state, input);
      if (step % 20 == 7) {
        for (int j = 0; j < 2; ++j) result.push_back(motion.angle_at(j, 0.0015));
      }
    }
    return result;
  };
  const Eigen::VectorXd none = Eigen::VectorXd::Zero(8);
  const std::vector<Dual> dual = angles_for(none, Dual());
  const double distance = 1e-6;
  for (Eigen::Index i = 0; i < 8; ++i) {
    const std::vector<double> up = angles_for(distance * Eigen::VectorXd::Unit(8, i), 0.0);
    const std::vector<double> down = angles_for(-distance * Eigen::VectorXd::Unit(8, i), 0.0);
    double largest = 0.0, error = 0.0;
    for (std::size_t k = 0; k < dual.size(); ++k) {
      const double slope = (up[k] - down[k]) / (2.0 * distance);
      largest = std::max(largest, std::abs(slope));
      error = std::max(error, std::abs(slope - dual[k].derivatives()[i]));
    }
    EXPECT_GT(largest, 1e-3) << i;
    EXPECT_LT(error, 1e-4 * largest) << "direction " << i;
  }
}

}  // namespace
}  // namespace estimator
