#pragma once

#include <Eigen/Core>
#include <string>
#include <vector>

#include "service/rig/drawing/scene.hpp"

namespace service {

/// Direction from which a picture shows a scene in orthographic projection.
struct View {
  std::string name;        ///< name, e.g. "from the front"
  Eigen::Vector3d toward;  ///< unit vector to the viewer
  Eigen::Vector3d right, up;

  Eigen::Vector2d flat(const Eigen::Vector3d& point) const {
    return {right.dot(point), up.dot(point)};
  }
};

/// Returns views that show the motion of a scene, the best view first. If all rotary joints have
/// parallel axes, the first view is along these axes, otherwise it is oblique, followed by views
/// along up to two axes.
std::vector<View> choose_views(const Scene& scene);

/// Returns the name of the side to which a direction points, e.g. "from above", "from the front".
std::string viewing_side(const Eigen::Vector3d& direction);

/// Returns a direction on the page in words, e.g. "to the right", "upward".
std::string direction_on_page(const Eigen::Vector3d& direction);

}  // namespace service
