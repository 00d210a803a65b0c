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

/// Position of a label in a picture: the box around its text, in dots with y pointing down.
struct PlacedLabel {
  LineRole ink;
  std::string text;
  Eigen::Vector2d low, high;
};

/// Places each label of a picture near the point that it labels, so that it overlaps lines, symbols
/// and other labels least.
///
/// @param letter  width and height of a letter [dots]
/// @param away    distance of a label from its point [dots]
/// @param area    width and height of the picture, whose upper left corner is at zero [dots]
std::vector<PlacedLabel> place_labels(const ProjectedScene& picture, const Eigen::Vector2d& letter,
                                      double away, const Eigen::Vector2d& area);

}  // namespace service
