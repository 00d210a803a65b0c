#include "estimator/simulation/loops/loop_closure.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "estimator/model/spanning_tree.hpp"
#include "estimator/simulation/loops/loop_contacts.hpp"
#include "tests/estimator/dynamics/loop_rigs.hpp"

namespace estimator {
namespace {

int closing_joint(const Mechanism& mechanism) {
  int closing = 0 + 1 + 2 + 3;
  for (const DirectedJoint& edge : spanning_tree(mechanism)) closing -= edge.joint;
  return closing;
}

// Half the antisymmetric part of the rotation between the two ends also vanishes at half a turn:
// the equations hold, but the loop is not closed.
TEST(LoopClosure, RejectsABodyRotatedByHalfATurn) {
  const Mechanism mechanism = moving_four_bar();
  LoopClosure closure(mechanism);
  Eigen::VectorXd wanted = Eigen::VectorXd::Constant(4, std::numeric_limits<double>::quiet_NaN());
  wanted[0] = 1.0;
  Eigen::VectorXd angles(4);
  angles << 1.0, -1.0, 1.5, 1.5;
  ASSERT_TRUE(closure.close(angles, wanted)) << angles.transpose();
  Eigen::VectorXd off = angles;
  off[closing_joint(mechanism)] += M_PI;
  ASSERT_LT(closure.closure_violation(off).cwiseAbs().maxCoeff(), 1e-12) << "the equations hold";
  Eigen::VectorXd moved = off;
  EXPECT_FALSE(closure.close(moved, off));
  off[closing_joint(mechanism)] += M_PI;
  EXPECT_TRUE(closure.close(off, off)) << "a whole turn is none";
}

// A flat parallelogram can continue as a parallelogram or cross over, for any coordinate. The
// singular configuration is reported, and no coordinates are chosen. On either side of it they are.
TEST(LoopClosure, ReportsASingularConfiguration) {
  Mechanism mechanism = moving_four_bar();
  const double a[] = {0.0, 0.05, 0.15, 0.3}, b[] = {-0.05, -0.15, 0.05, -0.05};
  for (int j = 0; j < 4; ++j) {
    set_joint_points(mechanism, j, a[j] * Eigen::Vector3d::UnitX(),
                     b[j] * Eigen::Vector3d::UnitX());
  }
  LoopClosure closure(mechanism);
  const auto pose = [](double crank) { return Eigen::Vector4d(crank, -crank, crank, crank); };
  Eigen::MatrixXd away(4, 2), through(4, 3);
  away << pose(1.2), pose(0.9);
  through << pose(0.4), pose(0.0), pose(-0.4);
  for (int k = 0; k < 3; ++k) {
    ASSERT_LT(closure.closure_violation(through.col(k)).cwiseAbs().maxCoeff(), 1e-12) << k;
  }
  EXPECT_EQ(closure.choose_coordinates({away}).independent.size(), 1U);
  EXPECT_EQ(closure.choose_coordinates({through.col(0), through.col(2)}).independent.size(), 1U);
  try {
    (void)closure.choose_coordinates({away, through});
    FAIL() << "chosen";
  } catch (const ChangePointError& point) {
    EXPECT_EQ(point.motion, 1U);
    EXPECT_EQ(point.configuration, 1);
  }
}

/// Fingers of two joints in series, of which the second mimics the first.
Mechanism hand(int fingers) {
  Mechanism mechanism;
  for (int i = 0; i < 2 * fingers; ++i) {
    mechanism.bodies.push_back({"b" + std::to_string(i)});
    Joint joint;
    joint.name = "h" + std::to_string(i);
    joint.body_a = i % 2 == 0 ? Joint::kGround : i - 1;
    joint.body_b = i;
    mechanism.joints.push_back(joint);
    if (i % 2 == 1) mechanism.mimic_joints.push_back({i, i - 1, 0.1 * (i + 1), -0.2});
  }
  make_parameters(mechanism);
  return mechanism;
}

// With ten mimic joints out of twenty there are far more choices than can be tried.
TEST(LoopClosure, MimicJointsAreNeverIndependent) {
  const Mechanism mechanism = hand(10);
  EXPECT_FALSE(is_tree_mechanism(mechanism));
  EXPECT_EQ(spanning_tree(mechanism).size(), 20U);
  LoopClosure closure(mechanism);
  EXPECT_EQ(closure.equation_count(), 10);
  EXPECT_TRUE(closure.closing_joint_names().empty());
  Eigen::VectorXd angles = Eigen::VectorXd::LinSpaced(20, -1.0, 1.0);
  const Eigen::VectorXd open = closure.closure_violation(angles);
  EXPECT_NEAR(open[3], angles[7] - (0.8 * angles[6] - 0.2), 1e-15);
  EXPECT_EQ(closure.closure_jacobian(angles)(3, 7), 1.0);
  EXPECT_EQ(closure.closure_jacobian(angles)(3, 6), -0.8);
  Eigen::VectorXd wanted = angles;
  for (int j = 1; j < 20; j += 2) wanted[j] = std::numeric_limits<double>::quiet_NaN();
  ASSERT_TRUE(closure.close(angles, wanted));
  for (const MimicJoint& each : mechanism.mimic_joints) {
    EXPECT_NEAR(angles[each.joint], each.ratio * angles[each.follows] + each.offset, 1e-12);
  }
  const CoordinateChoice choice = closure.choose_coordinates({angles});
  for (const int joint : choice.independent) EXPECT_EQ(joint % 2, 0);
  EXPECT_EQ(choice.independent.size(), 10U);
  EXPECT_EQ(choice.rows.size(), 10U);
}

// A wheel that mimics a rocker with ratio forty must not hinder closing the rocker's loop.
TEST(LoopClosure, ClosesWithMimicJoints) {
  Mechanism mechanism = moving_four_bar();
  mechanism.bodies.push_back({"wheel"});
  Joint joint = mechanism.joints[0];
  joint.name = "W";
  joint.body_b = 3;
  mechanism.joints.push_back(joint);
  mechanism.mimic_joints = {{.joint = 4, .follows = 3, .ratio = 40.0, .offset = 0.0}};
  const Mechanism bare = moving_four_bar();
  make_parameters(mechanism);
  for (const Parameter& each : bare.parameters) {
    const int index = mechanism.find_parameter(each.name);
    mechanism.parameters[static_cast<std::size_t>(index)].value = each.value;
  }
  LoopClosure closure(mechanism);
  EXPECT_EQ(closure.equation_count(), 7);
  Eigen::VectorXd wanted = Eigen::VectorXd::Constant(5, std::numeric_limits<double>::quiet_NaN());
  wanted[0] = 1.0;
  Eigen::VectorXd angles(5);
  angles << 1.0, -1.0, -0.5, -0.5, 0.0;
  ASSERT_TRUE(closure.close(angles, wanted)) << angles.transpose();
  EXPECT_NEAR(angles[0], 1.0, 1e-6);
  EXPECT_NEAR(angles[4], 40.0 * angles[3], 1e-9);
  EXPECT_GT(std::abs(angles[3] + 0.5), 0.7) << "it went far";
}

// Full turns of a joint count if another mimics it.
TEST(LoopClosure, MimicJointsCountFullTurns) {
  Mechanism mechanism = hand(1);
  mechanism.mimic_joints[0].ratio = 40.0;
  LoopClosure closure(mechanism);
  Eigen::VectorXd nearest = Eigen::VectorXd::Zero(2);
  const Eigen::Vector2d wanted(1.5, std::numeric_limits<double>::quiet_NaN());
  const std::vector<AssemblyMode> found = find_assembly_modes(mechanism, closure, wanted, nearest);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_NEAR(found[0].angles[0], 1.5, 1e-9);
  EXPECT_NEAR(found[0].angles[1], 59.8, 1e-9);
}

TEST(Couplings, AreReportedIfImpossible) {
  Mechanism mechanism = hand(2);
  EXPECT_TRUE(find_mechanism_errors(mechanism).empty());
  const auto has = [](const Mechanism& wrong, const Message& error) {
    const std::vector<Message> errors = find_mechanism_errors(wrong);
    ASSERT_FALSE(errors.empty());
    EXPECT_EQ(errors[0], error);
  };
  const std::vector<Argument> h1 = {{"joint", "h1"}};
  Mechanism wrong = mechanism;
  wrong.mimic_joints[1].joint = 1;
  has(wrong, {MessageCode::kFollowsTwoJoints, h1});
  for (const double ratio : {0.0, HUGE_VAL, std::nan("")}) {
    wrong = mechanism;
    wrong.mimic_joints[0].ratio = ratio;
    has(wrong, {MessageCode::kInvalidMimicRatio, h1});
  }
  wrong = mechanism;
  wrong.mimic_joints[0].offset = std::nan("");
  has(wrong, {MessageCode::kInvalidMimicRatio, h1});
  wrong = mechanism;
  wrong.mimic_joints[0].follows = 4;
  has(wrong, MessageCode::kMissingMimicJoint);
  wrong.mimic_joints[0] = {-1, 0, 1.0, 0.0};
  has(wrong, MessageCode::kMissingMimicJoint);
  wrong = mechanism;
  wrong.mimic_joints[0] = {1, 3, 2.0, 0.0};
  wrong.mimic_joints[1] = {3, 1, 2.0, 0.0};
  has(wrong, {MessageCode::kCircularMimicJoint, h1});
  wrong.mimic_joints[1] = {3, 2, 2.0, 0.0};
  EXPECT_TRUE(find_mechanism_errors(wrong).empty()) << "one behind the other";
  mechanism.joints[0].stops.lower = true;
  has(mechanism, {MessageCode::kStopsInLoop, {{"joint", mechanism.joints[0].name}}});
}

TEST(LoopContacts, FrictionOfAllJointsHoldsTheLoop) {
  Eigen::MatrixXd coupling(3, 1);
  coupling << 1.0, -2.0, 0.5;
  Eigen::VectorXd bound(3), force(1);
  bound << 0.1, 0.2, 0.4;
  force << 0.6;  // 0.1 + 0.4 + 0.2 can hold it
  EXPECT_NEAR(holding_force_margin(coupling, bound, force), 0.1 / 2.0, 1e-12);
  force << -0.8;
  EXPECT_NEAR(holding_force_margin(coupling, bound, force), -0.1 / 2.0, 1e-12);
}

TEST(LoopContacts, JointsOfSeparateCoordinatesHaveSeparateHoldingMargins) {
  const Eigen::MatrixXd coupling = Eigen::MatrixXd::Identity(2, 2);
  EXPECT_NEAR(
      holding_force_margin(coupling, Eigen::Vector2d(0.3, 0.5), Eigen::Vector2d(0.1, -0.45)), 0.05,
      1e-12);
  EXPECT_NEAR(
      holding_force_margin(coupling, Eigen::Vector2d(0.3, 0.5), Eigen::Vector2d(-0.35, 0.1)), -0.05,
      1e-12);
}

// A trial motion may open a loop completely. The result must be NaN, without a crash.
TEST(LoopContacts, AnOpenLoopHasNoHoldingMargin) {
  const Eigen::MatrixXd coupling = Eigen::MatrixXd::Constant(3, 2, std::nan(""));
  EXPECT_TRUE(std::isnan(
      holding_force_margin(coupling, Eigen::Vector3d(0.1, 0.2, 0.3), Eigen::Vector2d(1, 1))));
}

TEST(LoopContacts, RestEndsInTheDirectionOfTheForce) {
  RestingJoints joints{.mass = Eigen::MatrixXd::Identity(1, 1),
                       .force = Eigen::VectorXd::Constant(1, 0.5),
                       .coupling = Eigen::MatrixXd(2, 1),
                       .drift = Eigen::VectorXd::Zero(2),
                       .bound = Eigen::VectorXd::Constant(2, 0.3)};
  joints.coupling << 1.0, -1.0;
  EXPECT_EQ(determine_contact_states(joints), (Contacts{Contact::kStick, Contact::kStick}));
  joints.force[0] = 0.7;  // pulls the coordinate backward
  EXPECT_EQ(determine_contact_states(joints), (Contacts{Contact::kBackward, Contact::kForward}));
  joints.force[0] = -0.7;
  EXPECT_EQ(determine_contact_states(joints), (Contacts{Contact::kForward, Contact::kBackward}));
}

// A joint at rest at a dead centre is moved on by the others: friction cannot hold it.
TEST(LoopContacts, PassASingularConfiguration) {
  const RestingJoints joints{.mass = Eigen::MatrixXd::Identity(1, 1),
                             .force = Eigen::VectorXd::Zero(1),
                             .coupling = Eigen::MatrixXd::Constant(1, 1, 1e-12),
                             .drift = Eigen::VectorXd::Constant(1, -3.0),
                             .bound = Eigen::VectorXd::Constant(1, 0.3)};
  EXPECT_EQ(determine_contact_states(joints), Contacts{Contact::kBackward});
}

}  // namespace
}  // namespace estimator
