#pragma once

#include <Eigen/Core>
#include <string>
#include <vector>

#include "estimator/model/placement.hpp"
#include "service/rig/rig_file.hpp"

namespace service {

/// Meaning of a line in a picture of a mechanism. Each meaning has its own line style.
enum class LineRole {
  kBody,      ///< a rigid body
  kSupport,   ///< support that fixes a joint to the ground
  kRail,      ///< rail of a prismatic joint
  kAxis,      ///< a joint's axis
  kZero,      ///< position of a body at joint or encoder coordinate zero
  kPositive,  ///< positive direction of a joint
  kReading,   ///< positive direction of an encoder between bodies
  kSensor,    ///< axis of another sensor, or its measuring wire
};

/// Symbol in a picture of a mechanism. The size of symbols does not depend on the picture's scale.
enum class Symbol { kJoint, kMass, kEncoder, kMotor, kGround, kSensor, kLoadSensor };

struct SceneLine {
  LineRole ink;
  std::vector<Eigen::Vector3d> points;  ///< world frame [m]
  bool arrow = false;                   ///< true for an arrow head at the line's end
};

struct SceneSymbol {
  Symbol symbol;
  Eigen::Vector3d at;                                ///< [m]
  Eigen::Vector3d toward = Eigen::Vector3d::Zero();  ///< direction of the ground
};

struct SceneLabel {
  LineRole ink;
  Eigen::Vector3d at;  ///< position of the labelled object [m]
  std::string text;
};

/// Lines, symbols and labels that show a mechanism in one configuration.
struct Scene {
  std::vector<SceneLine> lines;
  std::vector<SceneSymbol> symbols;
  std::vector<SceneLabel> labels;
  Eigen::Vector3d up = Eigen::Vector3d::UnitY();      ///< opposite to gravity; y without gravity
  Eigen::Vector3d gravity = Eigen::Vector3d::Zero();  ///< [m/s²]
  std::vector<Eigen::Vector3d> turns;                 ///< unit axes of rotary joints
  std::vector<Eigen::Vector3d> slides;                ///< unit axes of prismatic joints
};

/// Returns the lines, symbols and labels that show a rig's mechanism at joint coordinates [rad or
/// m]. The joint coordinates must close the kinematic loops.
Scene make_scene(const Rig& rig, const Eigen::VectorXd& coordinates);

/// Position and axes of a sensor that is not an encoder, in the world frame.
struct SensorPlacement {
  Eigen::Vector3d at;      ///< position of the sensor, or of its joint [m]
  Eigen::Matrix3d axes;    ///< unit vectors of the sensor's axes, one per column
  Eigen::Vector3d anchor;  ///< other end of the wire of a distance sensor [m]
};

/// Returns the position and axes of a sensor for given poses of the bodies.
SensorPlacement find_sensor_placement(const estimator::Mechanism& mechanism, int sensor,
                                      const estimator::Configuration& poses);

/// Direction from which a picture shows a scene in orthographic projection.
struct SceneView {
  std::string name;        ///< name, e.g. "from the front"
  Eigen::Vector3d toward;  ///< unit vector to the viewer
  Eigen::Vector3d right, up;

  Eigen::Vector2d flat(const Eigen::Vector3d& point) const {
    return {right.dot(point), up.dot(point)};
  }
};

/// Returns the views of a scene that show its motion best, the best view first. If all rotary
/// joints have parallel axes, the first view is along these axes. Otherwise, the first view is
/// oblique, and views along up to two axes follow.
std::vector<SceneView> choose_scene_views(const Scene& scene);

/// Returns the name of the side from which a viewer looks, e.g. "from above" or "from the front".
/// @param direction  direction to the viewer
std::string viewing_side_name(const Eigen::Vector3d& direction);

/// Returns a direction in the picture in words, e.g. "to the right" or "upward".
std::string describe_page_direction(const Eigen::Vector3d& direction);

/// Scene projected onto a picture. Coordinates are in dots of the picture, x right and y down.
struct ProjectedScene {
  struct ProjectedLine {
    LineRole ink;
    std::vector<Eigen::Vector2d> points;
    bool arrow;
  };
  struct ProjectedSymbol {
    Symbol symbol;
    Eigen::Vector2d at;
    Eigen::Vector2d toward;  ///< unit vector; zero if it points at or from the viewer
  };
  struct ProjectedLabel {
    LineRole ink;
    Eigen::Vector2d at;
    std::string text;
  };
  std::vector<ProjectedLine> lines;
  std::vector<ProjectedSymbol> signs;
  std::vector<ProjectedLabel> labels;
  Eigen::Vector2d gravity;  ///< projected unit vector; short if gravity is along the view
};

/// Projects a scene into a picture.
/// @param low, high  corners of the area that the mechanism may fill [dots]
ProjectedScene project_scene(const Scene& scene, const SceneView& view, const Eigen::Vector2d& low,
                             const Eigen::Vector2d& high);

/// Label in a picture, with the box around its text [dots, y down].
struct PlacedLabel {
  LineRole ink;
  std::string text;
  Eigen::Vector2d low, high;
};

/// Returns positions of the labels in a picture. Each label is near its point, with the least
/// overlap with lines, symbols and other labels.
/// @param letter  width and height of a letter [dots]
/// @param away    distance of a label from its point [dots]
/// @param area    width and height of the picture, whose upper left corner is at zero [dots]
std::vector<PlacedLabel> place_labels(const ProjectedScene& picture, const Eigen::Vector2d& letter,
                                      double away, const Eigen::Vector2d& area);

}  // namespace service
