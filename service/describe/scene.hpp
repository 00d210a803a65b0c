#pragma once

#include <Eigen/Core>
#include <string>
#include <vector>

#include "service/import/rig_file.hpp"

namespace service {

/// What a line of a picture stands for; each is drawn in a way of its own.
enum class Ink {
  kBody,      ///< a rigid body
  kSupport,   ///< what holds a joint to the ground
  kRail,      ///< what a joint slides on
  kAxis,      ///< a hinge's axis
  kZero,      ///< where a body is when its joint, or encoder, is at zero
  kPositive,  ///< which way a joint counts up
  kReading,   ///< which way an encoder between two bodies counts up
  kSensor,    ///< axes of other sensors, and wires that they measure
};

/// Symbols of one size, whatever the scale of the picture.
enum class Symbol { kHinge, kMass, kEncoder, kMotor, kGround, kSensor, kLoadSensor };

struct SceneLine {
  Ink ink;
  std::vector<Eigen::Vector3d> points;  ///< world frame [m]
  bool arrow = false;                   ///< at its end
};

struct SceneSymbol {
  Symbol symbol;
  Eigen::Vector3d at;                                ///< [m]
  Eigen::Vector3d toward = Eigen::Vector3d::Zero();  ///< of the ground: where it lies
};

struct SceneLabel {
  Ink ink;
  Eigen::Vector3d at;  ///< what it belongs to [m]
  std::string text;
};

/// A mechanism at one configuration as lines, symbols and labels in space.
struct Scene {
  std::vector<SceneLine> lines;
  std::vector<SceneSymbol> symbols;
  std::vector<SceneLabel> labels;
  Eigen::Vector3d up = Eigen::Vector3d::UnitY();      ///< against gravity; y where there is none
  Eigen::Vector3d gravity = Eigen::Vector3d::Zero();  ///< [m/s²]
  std::vector<Eigen::Vector3d> turns;                 ///< axes of hinges, unit
  std::vector<Eigen::Vector3d> slides;                ///< of joints that slide
};

/// The mechanism with its joints at `coordinates` [rad or m]; loops must be closed there.
Scene make_scene(const Rig& rig, const Eigen::VectorXd& coordinates);

}  // namespace service
