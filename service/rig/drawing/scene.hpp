#pragma once

#include <Eigen/Core>
#include <string>
#include <vector>

#include "estimator/model/placement.hpp"
#include "service/rig/rig_file.hpp"

namespace service {

/// Meaning of a line in the picture of a mechanism. Each meaning has its own line style.
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

/// Symbols in the picture of a mechanism. Their size does not depend on the picture's scale.
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

/// Returns the scene of a rig's mechanism at the joint coordinates [rad or m]. These must close the
/// loops.
Scene make_scene(const Rig& rig, const Eigen::VectorXd& coordinates);

/// Position and axes of a sensor that is not an encoder, in the world frame.
struct SensorPlacement {
  Eigen::Vector3d at;      ///< position of the sensor, or of its joint [m]
  Eigen::Matrix3d axes;    ///< unit vectors of the sensor's axes, one per column
  Eigen::Vector3d anchor;  ///< other end of the wire of a distance sensor [m]
};

/// Returns the position and axes of a sensor.
/// @param poses  poses of the bodies
SensorPlacement sensor_placement(const estimator::Mechanism& mechanism, int sensor,
                                 const estimator::Configuration& poses);

}  // namespace service
