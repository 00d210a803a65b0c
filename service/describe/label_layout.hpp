#pragma once

#include <Eigen/Core>
#include <string>
#include <vector>

#include "service/describe/flat_picture.hpp"

namespace service {

/// Where a label is written: the box of its text in dots, y down.
struct PlacedLabel {
  Ink ink;
  std::string text;
  Eigen::Vector2d low, high;
};

/// Puts labels beside what they belong to, where they cover least of lines, symbols and one
/// another.
///
/// @param letter  width and height of a letter
/// @param away    distance of a label from what it belongs to
/// @param area    the picture's far corner; its near one is 0
std::vector<PlacedLabel> place_labels(const FlatPicture& picture, const Eigen::Vector2d& letter,
                                      double away, const Eigen::Vector2d& area);

}  // namespace service
