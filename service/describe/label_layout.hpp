#pragma once

#include <Eigen/Core>
#include <string>
#include <vector>

#include "service/describe/projected_scene.hpp"

namespace service {

/// Position of a label: the box of its text in dots, y down.
struct PlacedLabel {
  LineRole ink;
  std::string text;
  Eigen::Vector2d low, high;
};

/// Places labels next to their points where they overlap lines, symbols and other labels least.
///
/// @param letter  width and height of a letter
/// @param away    distance of a label from its point
/// @param area    size of the picture; its near corner is 0
std::vector<PlacedLabel> place_labels(const ProjectedScene& picture, const Eigen::Vector2d& letter,
                                      double away, const Eigen::Vector2d& area);

}  // namespace service
