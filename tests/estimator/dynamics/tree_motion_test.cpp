#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>

#include "tests/estimator/dynamics/interval_run.hpp"
#include "tests/estimator/dynamics/mechanism_edits.hpp"
#include "tests/support/mechanisms/example_mechanisms.hpp"
#include "tests/support/mechanisms/reference_rigs.hpp"
#include "tests/support/mechanisms/rollout.hpp"

namespace estimator {
namespace {

using namespace test_support;

// Compares with equations of motion written by hand. Geometry, Coriolis terms, tilt, shaft, motor
// and back-EMF each change the trajectory by orders of magnitude more than the tolerance. The table
// shows the order of convergence, 4 or better; an integrator stage that reads the wrong state
// lowers it.
TEST(TreeMotion, ConvergesWithFourthOrderToTheFurutasEquationsOfMotion) {
  ReferenceFuruta rig{.J_shaft = 4e-4,
                      .b_1 = 1e-3,
                      .b_2 = 1e-4,
                      .K = 0.07,
                      .k_e = 0.05,
                      .tilt = {0.02, 0.0, -0.03}};
  const double period = 0.02;
  Eigen::VectorXd u(75);
  for (Eigen::Index k = 0; k < u.size(); ++k) u[k] = 2.0 * std::sin(0.3 * static_cast<double>(k));
  const Eigen::Vector4d start(0.2, 2.5, 0.5, -1.0);
  const Eigen::MatrixXd reference = test_support::simulate(rig, start, u, period);
  double before = 0.0;
  for (const int steps : {2, 4, 8}) {
    const Eigen::MatrixXd angles = simulate(mechanism_of(rig), start, u, period, steps);
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
TEST(TreeMotion, MatchesAPendulumThroughStickAndSlip) {
  ReferencePendulum rig{.b = 2e-4, .c = 1e-5, .tau_c = 0.006, .tau_s = 0.008, .zeta = 4.0};

  const double period = 0.004;
  const int count = 7000;
  const Eigen::MatrixXd reference =
      test_support::simulate(rig, Eigen::Vector2d(3.0, 0.0), period, count);
  ASSERT_EQ(reference(count, 1), 0.0) << "the reference must have come to rest";
  const Eigen::MatrixXd angles =
      simulate(pendulum_of(rig), Eigen::Vector2d(3.0, 0.0), Eigen::MatrixXd(count, 0), period, 1);
  EXPECT_LT((angles.col(0) - reference.col(0)).cwiseAbs().maxCoeff(), 1e-6);
}

// SPOOK in maximal coordinates must converge to the same motion, here for a joint described from
// child to parent and for two arms on one body, which no reference simulator covers. SPOOK's error
// is of first order, so a step ten times smaller must come ten times closer.
TEST(TreeMotion, IsTheLimitOfSpookOnABranchedTree) {
  Mechanism mechanism = make_chain({.links = 3});
  // Link 3 hangs from link 1 instead of link 2, and its joint has link 1 as the child.
  mechanism.joints[2].body_a = 0;
  describe_from_child(mechanism, 2);
  mechanism.joint_parameter(2, JointParameter::kViscous).value = 2e-3;
  mechanism.joint_parameter(1, JointParameter::kStiffness).value = 0.1;
  mechanism.joint_parameter(1, JointParameter::kRestAngle).value = 0.4;
  mechanism.joint_parameter(0, JointParameter::kConstantTorque).value = 0.02;
  ASSERT_TRUE(is_tree_mechanism(mechanism));
  const Eigen::Vector3d angles(0.7, -0.4, 0.9), rates(1.0, -2.0, 0.5);
  Eigen::VectorXd start(6);
  start << angles, rates;
  const Eigen::MatrixXd exact = simulate(mechanism, start, Eigen::MatrixXd(50, 0), 0.01, 4);
  double before = 0.0;
  for (const int steps : {10, 100}) {
    const double h = 0.01 / steps;
    for (Joint& each : mechanism.joints) each.spook.damping_time = 2.0 * h;
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

}  // namespace
}  // namespace estimator
