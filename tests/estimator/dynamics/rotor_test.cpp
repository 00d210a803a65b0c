#include <gtest/gtest.h>

#include <string>

#include "estimator/dynamics/tree_inverse_dynamics.hpp"
#include "tests/estimator/dynamics/mechanism_edits.hpp"
#include "tests/support/mechanisms/chain.hpp"

namespace estimator {
namespace {

// The rotor adds J_shaft/N φ̇ ω_a to the kinetic energy, with the rate of the body that houses the
// motor: the inner link if the joint is described outwards, else the outer one, θ̇₁ − φ̇.
TEST(Rotor, RotatesWithItsBody) {
  constexpr double kShaft = 0.03, kRatio = 6.0;
  const auto mass_matrix = [](const Mechanism& mechanism) {
    TreeInverseDynamics<double> dynamics(mechanism, parameter_values(mechanism));
    const JointVector<double> q = Eigen::Vector2d(0.4, -0.7), zero = JointVector<double>::Zero(2);
    JointVector<double> column, rest;
    dynamics.torque_residual(q, zero, zero, zero, rest);
    Eigen::Matrix2d M;
    for (int k = 0; k < 2; ++k) {
      dynamics.torque_residual(q, zero, Eigen::Vector2d(Eigen::Vector2d::Unit(k)), zero, column);
      M.col(k) = column - rest;
    }
    return M;
  };
  const auto rotor_of = [&](bool outwards) {
    Mechanism mechanism = make_chain({.links = 2});
    if (!outwards) test_support::describe_from_child(mechanism, 1);
    mechanism.joint_parameter(1, JointParameter::kShaftInertia).value = kShaft;
    const Eigen::Matrix2d without = mass_matrix(mechanism);
    mechanism.joints[1].motor.gear_ratio = kRatio;
    return Eigen::Matrix2d(mass_matrix(mechanism) - without);
  };
  const Eigen::Matrix2d inner{{0.0, 1.0}, {1.0, 0.0}}, outer{{0.0, 1.0}, {1.0, -2.0}};
  EXPECT_LT((rotor_of(true) - kShaft / kRatio * inner).norm(), 1e-14);
  EXPECT_LT((rotor_of(false) - kShaft / kRatio * outer).norm(), 1e-14);

  Mechanism on_ground = make_chain({.links = 1});
  on_ground.joints[0].motor.gear_ratio = 3.0;
  EXPECT_TRUE(find_mechanism_errors(on_ground).empty());
  Mechanism slider = make_chain({.links = 1});
  slider.joints[0].kind = JointKind::kPrismatic;
  slider.joints[0].motor.gear_ratio = 3.0;
  ASSERT_EQ(find_mechanism_errors(slider).size(), 1U);
  EXPECT_EQ(find_mechanism_errors(slider)[0].code, MessageCode::kPrismaticGearRatio);
}

}  // namespace
}  // namespace estimator
