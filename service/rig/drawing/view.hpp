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
