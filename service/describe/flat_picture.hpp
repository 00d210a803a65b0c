#pragma once

#include <Eigen/Core>
#include <string>
#include <vector>

#include "service/describe/scene.hpp"
#include "service/describe/view.hpp"

namespace service {

/// A scene as it is seen, in the dots of a picture: x to the right, y down.
struct FlatPicture {
  struct Line {
    Ink ink;
    std::vector<Eigen::Vector2d> points;
    bool arrow;
  };
  struct Sign {
    Symbol symbol;
    Eigen::Vector2d at;
    Eigen::Vector2d toward;  ///< unit; zero where it points at who looks
  };
  struct Label {
    Ink ink;
    Eigen::Vector2d at;
    std::string text;
  };
  std::vector<Line> lines;
  std::vector<Sign> signs;
  std::vector<Label> labels;
  Eigen::Vector2d gravity;  ///< its direction, shorter the more it points along the view
};

/// @param low, high  corners of the area that the mechanism may take
FlatPicture flatten(const Scene& scene, const View& view, const Eigen::Vector2d& low,
                    const Eigen::Vector2d& high);

}  // namespace service
