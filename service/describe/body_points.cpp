#include "service/describe/body_points.hpp"

#include <algorithm>

#include "estimator/model/placement.hpp"

namespace service {
namespace {

constexpr double kSamePlace = 1e-6;  // [m]

}  // namespace

std::vector<std::vector<Eigen::Vector3d>> body_points(const estimator::Mechanism& mechanism) {
  std::vector<std::vector<Eigen::Vector3d>> points(mechanism.bodies.size());
  const auto add = [&](int body, const Eigen::Vector3d& point) {
    if (body < 0) return;
    auto& known = points[static_cast<std::size_t>(body)];
    const bool there = std::ranges::any_of(
        known, [&](const Eigen::Vector3d& other) { return (other - point).norm() < kSamePlace; });
    if (!there) known.push_back(point);
  };
  for (int j = 0; j < mechanism.hinge_count(); ++j) {
    const estimator::Hinge& hinge = mechanism.hinges[static_cast<std::size_t>(j)];
    add(hinge.body_a, estimator::point_of_hinge(mechanism, j, false));
    add(hinge.body_b, estimator::point_of_hinge(mechanism, j, true));
  }
  for (int w = 0; w < mechanism.weld_count(); ++w) {
    const estimator::Weld& weld = mechanism.welds[static_cast<std::size_t>(w)];
    add(weld.body_a, estimator::point_of_weld(mechanism, w, false));
    add(weld.body_b, estimator::point_of_weld(mechanism, w, true));
  }
  return points;
}

}  // namespace service
