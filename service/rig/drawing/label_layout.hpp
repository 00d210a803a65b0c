#pragma once

#include <Eigen/Core>
#include <string>
#include <vector>

#include "service/rig/drawing/projected_scene.hpp"

namespace service {

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
