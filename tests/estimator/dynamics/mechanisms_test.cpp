#include <gtest/gtest.h>

#include <cmath>

#include "estimator/model/kinematics/kinematics.hpp"
#include "estimator/model/placement.hpp"
#include "tests/support/mechanisms/example_mechanisms.hpp"

namespace estimator {
namespace {

// The builders' mechanisms must pass the checks for rig files.
TEST(Mechanisms, AreWithoutFaults) {
  ChainDescription four_bar{.links = 3, .closing_point = Eigen::Vector3d(0.4, 0.0, 0.0)};
  for (const Mechanism& mechanism :
       {make_pendulum(), make_furuta(), make_chain({.links = 5}), make_chain(four_bar)}) {
    EXPECT_TRUE(find_mechanism_errors(mechanism).empty()) << mechanism.name;
  }
}

// Data README: e_r = (cos θ1, 0, −sin θ1), z_A = +y, centre of A at l_1 e_r, joint 2 at L e_r with
// axis +x_A, θ2 = 0 hanging; x_B along the rod, y_B the axis; M12 = m_B L l_2 cos θ2 > 0 hanging.
TEST(MakeFuruta, HasTheGeometryOfTheDataReadme) {
  const Mechanism mechanism = make_furuta();
  const Eigen::Vector3d up = Eigen::Vector3d::UnitY();
  for (const double theta1 : {0.0, 0.7, -2.5}) {
    for (const double theta2 : {0.0, 0.3, -1.9, 3.1}) {
      SCOPED_TRACE(::testing::Message() << theta1 << " " << theta2);
      const Configuration q = assemble_configuration(mechanism, unpack_parameters(mechanism),
                                                     Eigen::Vector2d(theta1, theta2));
      const Eigen::Vector3d e_r(std::cos(theta1), 0.0, -std::sin(theta1));
      const Eigen::Vector3d e_theta = up.cross(e_r);  // d e_r / dθ1
      const Eigen::Vector3d rod = -std::cos(theta2) * up + std::sin(theta2) * e_theta;
      EXPECT_LT((q[0].r - 0.128 * e_r).norm(), 1e-12);
      EXPECT_LT((q[1].r - 0.376 * e_r - 0.092 * rod).norm(), 1e-12);
      EXPECT_LT((q[0].e * Eigen::Vector3d::UnitX() - e_r).norm(), 1e-12);
      EXPECT_LT((q[0].e * Eigen::Vector3d::UnitZ() - up).norm(), 1e-12);
      EXPECT_LT((q[1].e * Eigen::Vector3d::UnitX() - rod).norm(), 1e-12);
      EXPECT_LT((q[1].e * Eigen::Vector3d::UnitY() - e_r).norm(), 1e-12);
      EXPECT_LT((joint_angles(mechanism, q) - Eigen::Vector2d(theta1, theta2)).norm(), 1e-12);
    }
  }
}

TEST(MakeChain, PlacesLinksEndToEnd) {
  const Mechanism mechanism = make_chain({.links = 4});
  const Eigen::Vector4d angles(0.3, -0.5, 1.1, 2.0);
  const Configuration q = assemble_configuration(mechanism, unpack_parameters(mechanism), angles);
  Eigen::Vector3d joint = Eigen::Vector3d::Zero();
  double direction = 0.0;
  for (int i = 0; i < 4; ++i) {
    direction += angles[i];
    const Eigen::Vector3d link =
        0.3 * Eigen::Vector3d(std::sin(direction), -std::cos(direction), 0);
    EXPECT_LT((q[static_cast<std::size_t>(i)].r - joint - 0.5 * link).norm(), 1e-12) << i;
    joint += link;
  }
}

// A parallelogram with both cranks hanging closes exactly; elsewhere the assembly must find it.
TEST(MakeChain, ClosesAFourBarLinkage) {
  const Mechanism mechanism =
      make_chain({.links = 3, .closing_point = Eigen::Vector3d(0.35, 0.0, 0.0)});
  ASSERT_EQ(mechanism.joint_count(), 4);
  const ModelParameterValues values = unpack_parameters(mechanism);
  const Configuration q =
      assemble_configuration(mechanism, values, Eigen::Vector4d(0.1, 1.4, 1.5, 0.0));
  EXPECT_LT(constraint_violation(mechanism, values, q).norm(), 1e-11);
  const Eigen::Vector3d tip = q[2].r + q[2].e * Eigen::Vector3d(0.15, 0.0, 0.0);
  EXPECT_LT((tip - Eigen::Vector3d(0.35, 0.0, 0.0)).norm(), 1e-11);
}

// All links of a planar chain turn about z alone; a Furuta's arm about its own z, its pendulum
// about more than one direction; a cart about none.
TEST(TurningAxis, IsTheCommonAxisOfAllJointsOrNone) {
  ChainDescription chain;
  chain.links = 3;
  for (int body = 0; body < 3; ++body) {
    const auto axis = find_single_rotation_axis(make_chain(chain), body);
    ASSERT_TRUE(axis.has_value());
    EXPECT_NEAR(std::abs(axis->z()), 1.0, 1e-12);
  }
  const Mechanism furuta = make_furuta();
  ASSERT_TRUE(find_single_rotation_axis(furuta, 0).has_value());
  EXPECT_NEAR(std::abs(find_single_rotation_axis(furuta, 0)->z()), 1.0, 1e-12);
  EXPECT_FALSE(find_single_rotation_axis(furuta, 1).has_value());
  Mechanism cart;
  cart.bodies = {{"cart"}};
  cart.joints.resize(1);
  cart.joints[0].name = "rail";
  cart.joints[0].kind = JointKind::kPrismatic;
  make_parameters(cart);
  ASSERT_TRUE(find_single_rotation_axis(cart, 0).has_value());
  EXPECT_TRUE(find_single_rotation_axis(cart, 0)->isZero());
}

}  // namespace
}  // namespace estimator
