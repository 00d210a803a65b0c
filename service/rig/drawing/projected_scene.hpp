#pragma once

#include <Eigen/Core>
#include <string>
#include <vector>

#include "service/rig/drawing/scene.hpp"
#include "service/rig/drawing/view.hpp"

namespace service {

/// Scene projected into a picture. Coordinates are dots of the picture, x to the right and y down.
struct ProjectedScene {
  struct Line {
    LineRole ink;
    std::vector<Eigen::Vector2d> points;
    bool arrow;
  };
  struct Sign {
    Symbol symbol;
    Eigen::Vector2d at;
    Eigen::Vector2d toward;  ///< unit vector; zero if it points at or from the viewer
  };
  struct Label {
    LineRole ink;
    Eigen::Vector2d at;
    std::string text;
  };
  std::vector<Line> lines;
  std::vector<Sign> signs;
  std::vector<Label> labels;
  Eigen::Vector2d gravity;  ///< projected unit vector; short if gravity is along the view
};

/// Projects a scene into a picture.
/// @param low, high  corners of the area that the mechanism may fill [dots]
ProjectedScene project_scene(const Scene& scene, const View& view, const Eigen::Vector2d& low,
                             const Eigen::Vector2d& high);

}  // namespace service
