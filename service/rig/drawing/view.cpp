#include "service/rig/drawing/view.hpp"

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>

namespace service {
namespace {

using Eigen::Vector3d;

constexpr double kParallel = 0.999;  // cosine above which axes count as parallel
constexpr double kEdgeOn = 0.3;      // cosine to the view direction below which a slide is visible
constexpr double kStraight = 0.995;  // cosine above which a direction is named by a side
constexpr std::size_t kPlainViewsMax = 2;

/// Returns the axis with the sign that makes it point to the front, right or top.
Vector3d facing(const Vector3d& axis) {
  Eigen::Index largest = 0;
  axis.cwiseAbs().maxCoeff(&largest);
  return axis[largest] < 0.0 ? Vector3d(-axis) : axis;
}

std::vector<Vector3d> directions_of(const std::vector<Vector3d>& axes) {
  std::vector<Vector3d> distinct;
  for (const Vector3d& axis : axes) {
    const bool known = std::ranges::any_of(
        distinct, [&](const Vector3d& other) { return std::abs(other.dot(axis)) > kParallel; });
    if (!known) distinct.push_back(facing(axis.normalized()));
  }
  return distinct;
}

View look(const Vector3d& toward, const Vector3d& scene_up, const std::string& name) {
  Vector3d up = scene_up - toward * toward.dot(scene_up);
  // In a view along the vertical, the front is at the lower edge.
  if (up.norm() < 0.2) up = -Vector3d::UnitZ() + toward * toward.z();
  if (up.norm() < 0.2) up = Vector3d::UnitX() - toward * toward.x();
  up.normalize();
  return {name, toward, up.cross(toward), up};
}

View oblique(const Scene& scene) {
  return look(Vector3d(0.5, 0.5, 0.85).normalized(), scene.up, "from the front, right and above");
}

bool shows(const Vector3d& toward, const std::vector<Vector3d>& slides) {
  return std::ranges::all_of(
      slides, [&](const Vector3d& slide) { return std::abs(slide.dot(toward)) < kEdgeOn; });
}

}  // namespace

std::string viewing_side(const Vector3d& direction) {
  static const char* const kSides[3][2] = {{"from the right", "from the left"},
                                           {"from above", "from below"},
                                           {"from the front", "from behind"}};
  Eigen::Index largest = 0;
  const double size = direction.cwiseAbs().maxCoeff(&largest);
  const std::string side = kSides[largest][direction[largest] < 0.0 ? 1 : 0];
  return size > kStraight * direction.norm() ? side : side + ", along the axis";
}

std::string direction_on_page(const Vector3d& direction) {
  const std::string from = viewing_side(direction);
  if (from == "from the right") return "to the right";
  if (from == "from the left") return "to the left";
  if (from == "from above") return "upward";
  if (from == "from below") return "downward";
  if (from == "from the front") return "toward the front";
  if (from == "from behind") return "toward the back";
  return "along its arrow";
}

std::vector<View> choose_views(const Scene& scene) {
  std::vector<Vector3d> directions = directions_of(scene.turns);
  if (directions.empty()) {
    const std::vector<Vector3d> sides = {Vector3d::UnitZ(), Vector3d::UnitX(), Vector3d::UnitY()};
    for (const Vector3d& toward : sides) {
      if (shows(toward, scene.slides)) return {look(toward, scene.up, viewing_side(toward))};
    }
    return {oblique(scene)};
  }
  if (directions.size() == 1 && shows(directions[0], scene.slides)) {
    const Vector3d axis = directions[0];
    std::vector<View> views = {look(axis, scene.up, viewing_side(axis))};
    const double lean = std::abs(axis.dot(scene.up));
    // A tilted axis is visible only from the side.
    if (lean > 0.03 && lean < kStraight) {
      const Vector3d side = facing(scene.up.cross(axis).normalized());
      views.push_back(look(side, scene.up, viewing_side(side)));
    }
    return views;
  }
  std::vector<View> views = {oblique(scene)};
  for (std::size_t k = 0; k < std::min(directions.size(), kPlainViewsMax); ++k) {
    views.push_back(look(directions[k], scene.up, viewing_side(directions[k])));
  }
  return views;
}

}  // namespace service
