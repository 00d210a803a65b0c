#pragma once

#include <Eigen/Core>
#include <string>
#include <vector>

#include "service/describe/scene.hpp"

namespace service {

/// Orthographic view of a scene.
struct View {
  std::string name;        ///< "from the front"
  Eigen::Vector3d toward;  ///< unit vector to the viewer
  Eigen::Vector3d right, up;

  Eigen::Vector2d flat(const Eigen::Vector3d& point) const {
    return {right.dot(point), up.dot(point)};
  }
};

/// Chooses views that show the motion, best first: along the common axis of all rotary joints, or
/// else an oblique view, then one along each of up to two axes.
std::vector<View> choose_views(const Scene& scene);

/// Returns the side to which a direction points: "from above", "from the front".
std::string viewing_side(const Eigen::Vector3d& direction);

/// Returns a direction on the page: "to the right", "upward".
std::string direction_on_page(const Eigen::Vector3d& direction);

}  // namespace service
