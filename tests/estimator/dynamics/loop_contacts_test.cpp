#include "estimator/simulation/loops/loop_contacts.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace estimator {
namespace {

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
