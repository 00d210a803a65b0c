#include "service/rig/drawing/joint_points_of_bodies.hpp"

#include <algorithm>

#include "estimator/model/placement.hpp"

namespace service {
namespace {

constexpr double kSamePlace = 1e-6;  // [m]

}  // namespace

std::vector<std::vector<Eigen::Vector3d>> joint_points_of_bodies(
    const estimator::Mechanism& mechanism) {
  std::vector<std::vector<Eigen::Vector3d>> points(mechanism.bodies.size());
  const auto add = [&](int body, const Eigen::Vector3d& point) {
    if (body < 0) return;
    auto& known = points[static_cast<std::size_t>(body)];
    const bool there = std::ranges::any_of(
        known, [&](const Eigen::Vector3d& other) { return (other - point).norm() < kSamePlace; });
    if (!there) known.push_back(point);
  };
  for (int j = 0; j < mechanism.joint_count(); ++j) {
    const estimator::Joint& joint = mechanism.joints[static_cast<std::size_t>(j)];
    add(joint.body_a, estimator::joint_point(mechanism, j, false));
    add(joint.body_b, estimator::joint_point(mechanism, j, true));
  }
  for (int w = 0; w < mechanism.fixed_joint_count(); ++w) {
    const estimator::FixedJoint& weld = mechanism.fixed_joints[static_cast<std::size_t>(w)];
    add(weld.body_a, estimator::fixed_joint_point(mechanism, w, false));
    add(weld.body_b, estimator::fixed_joint_point(mechanism, w, true));
  }
  return points;
}

}  // namespace service
