#include "estimator/model/inertia/inertia_parameterization.hpp"

#include <gtest/gtest.h>

#include <Eigen/Geometry>

namespace estimator {
namespace {

TEST(NearestConsistentInertiaMatrix, LeavesAConsistentInertiaUnchanged) {
  const Eigen::Matrix3d rod = Eigen::Vector3d(1e-6, 1.0, 1.0).asDiagonal();
  const Eigen::Matrix3d plate = Eigen::Vector3d(1.0, 2.0, 3.0).asDiagonal();
  for (const Eigen::Matrix3d& inertia : {rod, plate}) {
    EXPECT_TRUE(is_physically_consistent(inertia));
    EXPECT_EQ(nearest_consistent_inertia_matrix(1.0, inertia), inertia);
  }
}

TEST(NearestConsistentInertiaMatrix, ProjectsAnInconsistentInertiaOntoTheBoundary) {
  const Eigen::Matrix3d turn =
      Eigen::AngleAxisd(0.7, Eigen::Vector3d(1, 2, 3).normalized()).toRotationMatrix();
  const Eigen::Matrix3d J = turn * Eigen::Vector3d(1.0, 2.0, 3.3).asDiagonal() * turn.transpose();
  EXPECT_FALSE(is_physically_consistent(J));
  const Eigen::Matrix3d moved = nearest_consistent_inertia_matrix(1.0, J);
  EXPECT_TRUE(is_physically_consistent(moved));
  const Eigen::Matrix3d inside = turn.transpose() * moved * turn;
  EXPECT_NEAR((inside - Eigen::Matrix3d(inside.diagonal().asDiagonal())).norm(), 0.0, 1e-12);
  // Σ = (2.15, 1.15, −0.15): the last becomes about zero, so J_1 and J_2 rise by 0.15.
  EXPECT_NEAR((inside.diagonal() - Eigen::Vector3d(1.15, 2.15, 3.3)).norm(), 0.0, 1e-5);
}

TEST(NearestConsistentInertiaMatrix, ReplacesAZeroInertiaByASmallOne) {
  const Eigen::Matrix3d grain = nearest_consistent_inertia_matrix(2.0, Eigen::Matrix3d::Zero());
  EXPECT_TRUE(is_physically_consistent(grain));
  EXPECT_NEAR(grain(0, 0), 2.0 * 2.0 * 1e-8, 1e-20);
  EXPECT_TRUE(is_physically_consistent(
      nearest_consistent_inertia_matrix(1.0, -Eigen::Matrix3d::Identity())));
}

}  // namespace
}  // namespace estimator
