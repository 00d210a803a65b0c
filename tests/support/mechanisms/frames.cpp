#include "tests/support/mechanisms/frames.hpp"

#include <Eigen/Geometry>
#include <cassert>
#include <cmath>

namespace estimator {

Eigen::Matrix3d make_joint_frame(const Eigen::Vector3d& axis,
                                 const Eigen::Vector3d& zero_direction) {
  assert(std::abs(axis.norm() - 1.0) < 1e-12 && std::abs(zero_direction.norm() - 1.0) < 1e-12);
  assert(std::abs(axis.dot(zero_direction)) < 1e-12);
  Eigen::Matrix3d frame;
  frame << axis, zero_direction, axis.cross(zero_direction);
  return frame;
}

void set_inertia(Mechanism& mechanism, int body, const Eigen::Vector3d& moments) {
  mechanism.parameter(body, BodyParameter::kJxx).value = moments.x();
  mechanism.parameter(body, BodyParameter::kJyy).value = moments.y();
  mechanism.parameter(body, BodyParameter::kJzz).value = moments.z();
}

void set_joint_points(Mechanism& mechanism, int joint, const Eigen::Vector3d& point_a,
                      const Eigen::Vector3d& point_b) {
  constexpr JointParameter kPointA[] = {JointParameter::kPointAx, JointParameter::kPointAy,
                                        JointParameter::kPointAz};
  constexpr JointParameter kPointB[] = {JointParameter::kPointBx, JointParameter::kPointBy,
                                        JointParameter::kPointBz};
  for (int i = 0; i < 3; ++i) {
    mechanism.joint_parameter(joint, kPointA[i]).value = point_a[i];
    mechanism.joint_parameter(joint, kPointB[i]).value = point_b[i];
  }
}

}  // namespace estimator
