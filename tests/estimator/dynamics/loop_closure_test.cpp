#include "estimator/tree/loop_closure.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "estimator/model/spanning_tree.hpp"

namespace estimator {
namespace {

/// Four bars in the plane across z: the ground of 0.3 m, a crank, a coupler, a rocker.
Mechanism four_bar() {
  Mechanism mechanism;
  for (const char* const name : {"crank", "coupler", "rocker"}) mechanism.bodies.push_back({name});
  const auto add = [&](const char* name, int a, int b) {
    Hinge hinge;
    hinge.name = name;
    hinge.body_a = a;
    hinge.body_b = b;
    hinge.frame_a.col(0) = Eigen::Vector3d::UnitZ();
    hinge.frame_a.col(1) = Eigen::Vector3d::UnitX();
    hinge.frame_a.col(2) = Eigen::Vector3d::UnitY();
    hinge.frame_b = hinge.frame_a;
    mechanism.hinges.push_back(hinge);
  };
  add("O", Hinge::kGround, 0);
  add("A", 0, 1);
  add("B", 1, 2);
  add("R", Hinge::kGround, 2);
  make_parameters(mechanism);
  const double a[] = {0.0, 0.05, 0.15, 0.3}, b[] = {-0.05, -0.15, -0.125, 0.125};
  for (int j = 0; j < 4; ++j) {
    mechanism.hinge_parameter(j, HingeQuantity::kPointAx).value = a[j];
    mechanism.hinge_parameter(j, HingeQuantity::kPointBx).value = b[j];
  }
  return mechanism;
}

int closing_hinge(const Mechanism& mechanism) {
  int closing = 0 + 1 + 2 + 3;
  for (const TreeEdge& edge : spanning_tree(mechanism)) closing -= edge.hinge;
  return closing;
}

// Half the antisymmetric part of the rotation between the two ends vanishes at half a turn as well:
// the equations hold, and the mechanism is not closed.
TEST(LoopClosure, ABodyHalfATurnOffIsNotClosed) {
  const Mechanism mechanism = four_bar();
  LoopClosure closure(mechanism);
  Eigen::VectorXd wanted = Eigen::VectorXd::Constant(4, std::numeric_limits<double>::quiet_NaN());
  wanted[0] = 1.0;
  Eigen::VectorXd angles(4);
  angles << 1.0, -1.0, 1.5, 1.5;
  ASSERT_TRUE(closure.close(angles, wanted)) << angles.transpose();
  Eigen::VectorXd off = angles;
  off[closing_hinge(mechanism)] += M_PI;
  ASSERT_LT(closure.violation(off).cwiseAbs().maxCoeff(), 1e-12) << "the equations hold";
  Eigen::VectorXd moved = off;
  EXPECT_FALSE(closure.close(moved, off));
  off[closing_hinge(mechanism)] += M_PI;
  EXPECT_TRUE(closure.close(off, off)) << "a whole turn is none";
}

// A parallelogram that lies flat can go on as one or cross over, whatever joint is followed: no
// coordinates are chosen, and the place is told. Beside it, on either side, they are.
TEST(LoopClosure, TellsWhereAChangePointIsPassed) {
  Mechanism mechanism = four_bar();
  const double a[] = {0.0, 0.05, 0.15, 0.3}, b[] = {-0.05, -0.15, 0.05, -0.05};
  for (int j = 0; j < 4; ++j) {
    mechanism.hinge_parameter(j, HingeQuantity::kPointAx).value = a[j];
    mechanism.hinge_parameter(j, HingeQuantity::kPointBx).value = b[j];
  }
  LoopClosure closure(mechanism);
  const auto pose = [](double crank) { return Eigen::Vector4d(crank, -crank, crank, crank); };
  Eigen::MatrixXd away(4, 2), through(4, 3);
  away << pose(1.2), pose(0.9);
  through << pose(0.4), pose(0.0), pose(-0.4);
  for (int k = 0; k < 3; ++k) {
    ASSERT_LT(closure.violation(through.col(k)).cwiseAbs().maxCoeff(), 1e-12) << k;
  }
  EXPECT_EQ(closure.choose({away}).independent.size(), 1U);
  EXPECT_EQ(closure.choose({through.col(0), through.col(2)}).independent.size(), 1U);
  try {
    (void)closure.choose({away, through});
    FAIL() << "chosen";
  } catch (const ChangePoint& point) {
    EXPECT_EQ(point.motion, 1U);
    EXPECT_EQ(point.configuration, 1);
  }
}

}  // namespace
}  // namespace estimator
