#pragma once

#include <Eigen/Core>
#include <string>
#include <vector>

#include "service/describe/scene.hpp"

namespace service {

/// A way to look at a scene.
struct View {
  std::string name;        ///< "from the front"
  Eigen::Vector3d toward;  ///< to who looks, unit
  Eigen::Vector3d right, up;

  Eigen::Vector2d flat(const Eigen::Vector3d& point) const {
    return {right.dot(point), up.dot(point)};
  }
};

/// Views that show the motion, the best first: along the axes where all hinges turn about the same
/// direction; otherwise an oblique one, then one along each of up to two directions.
std::vector<View> choose_views(const Scene& scene);

/// From where a direction points at who looks: "from above", "from the front".
std::string side_of(const Eigen::Vector3d& direction);

/// Which way a direction leads on the page: "to the right", "upward".
std::string way_of(const Eigen::Vector3d& direction);

}  // namespace service
