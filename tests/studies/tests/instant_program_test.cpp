#include "tests/studies/motion_observer/instant_program.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "estimator/dynamics/tree_inverse_dynamics.hpp"
#include "estimator/model/placement.hpp"
#include "tests/studies/tests/spatial_tree.hpp"
#include "tests/support/mechanisms/example_mechanisms.hpp"

namespace {

using estimator::InstantAxis;
using estimator::InstantModel;
using estimator::InstantQuantity;
using estimator::JointLoad;

std::vector<InstantAxis> every_axis(const estimator::Mechanism& mechanism) {
  std::vector<InstantAxis> axes = test_support::inertial_axes(mechanism);
  for (int j = 0; j < mechanism.joint_count(); ++j) {
    for (int k = 0; k < 3; ++k) axes.push_back({InstantQuantity::kMotion, j, k});
    for (int k = 0; k < 6; ++k) axes.push_back({InstantQuantity::kAcceleration, j, k});
    for (int k = 0; k < static_cast<int>(JointLoad::kCount); ++k) {
      axes.push_back({InstantQuantity::kLoad, j, k});
    }
  }
  return axes;
}

Eigen::VectorXd some_unknowns(int count) {
  Eigen::VectorXd unknowns(count);
  for (int i = 0; i < count; ++i) unknowns[i] = std::sin(1.0 + 2.3 * i);
  return unknowns;
}

// All derivatives come from the same recorded program, so only differences of the values reveal a
// missing one, a wrong sign or a wrong column.
TEST(InstantModel, DerivativesMatchDifferences) {
  const estimator::Mechanism mechanism = test_support::spatial_tree();
  InstantModel program(mechanism, every_axis(mechanism), true);
  const Eigen::VectorXd unknowns = some_unknowns(program.unknown_count());
  Eigen::VectorXd values, above, below;
  Eigen::MatrixXd slopes;
  program.read(unknowns, values);
  program.linearize(slopes);
  constexpr double kStep = 1e-5;
  for (int i = 0; i < program.unknown_count(); ++i) {
    const Eigen::VectorXd step = kStep * Eigen::VectorXd::Unit(program.unknown_count(), i);
    program.read(unknowns + step, above);
    program.read(unknowns - step, below);
    const Eigen::VectorXd difference = (above - below) / (2.0 * kStep);
    EXPECT_LT((difference - slopes.col(i)).cwiseAbs().maxCoeff(), 1e-7) << i;
    for (int axis = 0; axis < program.axis_count(); ++axis) {
      if (program.depends(axis, i)) continue;
      EXPECT_EQ(slopes(axis, i), 0.0) << axis << ", " << i;
    }
  }
}

// d'Alembert: the work of an external wrench is work that the joints do not have to do. Catches a
// wrong frame, point or sign of the wrench, whichever way derivatives are computed.
TEST(InstantModel, ExternalWrenchesDoTheWorkOfJoints) {
  const estimator::Mechanism mechanism = test_support::spatial_tree();
  const int n = mechanism.joint_count();
  std::vector<InstantAxis> torques;
  for (int j = 0; j < n; ++j) {
    torques.push_back({InstantQuantity::kLoad, j, static_cast<int>(JointLoad::kTorque)});
  }
  InstantModel program(mechanism, torques, true);
  Eigen::VectorXd unknowns = Eigen::VectorXd::Zero(program.unknown_count());
  unknowns.head(n) = some_unknowns(n);
  Eigen::VectorXd alone, pushed;
  program.read(unknowns, alone);
  for (int body = 0; body < n; ++body) {
    const Eigen::Vector3d force(0.7, -1.1, 0.4);  // at the joint's point on the body, body frame
    unknowns.segment<3>(3 * n + 6 * body + 3) = force;
    program.read(unknowns, pushed);
    unknowns.tail(6 * n).setZero();
    const Eigen::Vector3d point = estimator::joint_point(mechanism, body, true);
    const auto place = [&](const Eigen::VectorXd& angles) {
      const estimator::Pose pose =
          estimator::place_bodies(mechanism, angles)[static_cast<std::size_t>(body)];
      return std::pair<Eigen::Vector3d, Eigen::Vector3d>(pose.r + pose.e * point, pose.e * force);
    };
    for (int j = 0; j < n; ++j) {
      const Eigen::VectorXd step = 1e-6 * Eigen::VectorXd::Unit(n, j);
      const Eigen::Vector3d moved =
          (place(unknowns.head(n) + step).first - place(unknowns.head(n) - step).first) / 2e-6;
      EXPECT_NEAR(alone[j] - pushed[j], place(unknowns.head(n)).second.dot(moved), 1e-8)
          << "joint " << j << ", body " << body;
    }
  }
}

// The equations of motion for more joints than the integrators support: a recorded program has no
// such limit. The weight of a long hanging chain loads its first joint.
TEST(InstantModel, TakesMoreJointsThanIntegratorsDo) {
  const int n = 2 * estimator::kTreeJointsMax;
  const estimator::Mechanism mechanism = estimator::make_chain({.links = n, .mass = 0.1});
  InstantModel program(mechanism,
                       {{InstantQuantity::kLoad, 0, static_cast<int>(JointLoad::kForceX)}}, false);
  Eigen::VectorXd force;
  program.read(Eigen::VectorXd::Zero(3 * n), force);
  const double gravity = mechanism.parameter(estimator::GravityParameter::kGravity).value;
  EXPECT_NEAR(force[0], -n * 0.1 * gravity, 1e-9);  // x points down the link
}

}  // namespace
