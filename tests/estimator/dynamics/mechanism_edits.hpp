#pragma once

#include <Eigen/Geometry>
#include <utility>

#include "estimator/model/mechanism.hpp"

namespace test_support {

/// Exchanges parent and child body in the description of a joint. It remains the same joint, but
/// its angle changes sign.
inline void describe_from_child(estimator::Mechanism& mechanism, int index) {
  estimator::Joint& joint = mechanism.joints[static_cast<std::size_t>(index)];
  std::swap(joint.body_a, joint.body_b);
  std::swap(joint.frame_a, joint.frame_b);
  for (const auto& [on_a, on_b] :
       {std::pair{estimator::JointParameter::kPointAx, estimator::JointParameter::kPointBx},
        {estimator::JointParameter::kPointAy, estimator::JointParameter::kPointBy},
        {estimator::JointParameter::kPointAz, estimator::JointParameter::kPointBz}}) {
    std::swap(mechanism.joint_parameter(index, on_a).value,
              mechanism.joint_parameter(index, on_b).value);
  }
}

/// Returns a cart on an inclined rail, an arm hinged to it, and a plate welded to the arm.
inline estimator::Mechanism cart_with_plate() {
  using estimator::JointParameter;
  estimator::Mechanism mechanism;
  mechanism.bodies = {{.name = "cart"}, {.name = "arm"}, {.name = "plate"}};
  const Eigen::Matrix3d tipped =
      Eigen::AngleAxisd(0.7, Eigen::Vector3d(0.3, 0.9, -0.2).normalized()).toRotationMatrix();
  const Eigen::Matrix3d other =
      Eigen::AngleAxisd(-1.1, Eigen::Vector3d(0.5, 0.1, 0.8).normalized()).toRotationMatrix();
  mechanism.joints.push_back({.name = "rail",
                              .kind = estimator::JointKind::kPrismatic,
                              .frame_a = tipped,
                              .frame_b = other});
  mechanism.joints.push_back(
      {.name = "joint", .body_a = 0, .body_b = 1, .frame_a = other, .frame_b = tipped});
  mechanism.fixed_joints.push_back(
      {.name = "glue", .body_a = 1, .body_b = 2, .frame_a = other, .frame_b = tipped});
  make_parameters(mechanism);
  mechanism.joint_parameter(1, JointParameter::kPointBx).value = -0.2;
  mechanism.joint_parameter(1, JointParameter::kPointAy).value = 0.1;
  mechanism.fixed_joint_parameter(0, JointParameter::kPointAx).value = 0.15;
  mechanism.fixed_joint_parameter(0, JointParameter::kPointBz).value = 0.05;
  return mechanism;
}

}  // namespace test_support
