#pragma once

#include <Eigen/Core>
#include <optional>
#include <string>
#include <vector>

#include "estimator/simulation/equilibrium.hpp"
#include "service/import/rig_file.hpp"

namespace service {

/// Describes the rest position and small oscillations, one sentence each: "hangs at pivot = 0°;
/// swings at 0.93 Hz", "upright (pivot = 180°) is unstable: …", "1 turns freely: …".
/// @param rest  result of find_stable_equilibrium
std::vector<std::string> describe_rest(const Rig& rig,
                                       const std::optional<estimator::Equilibrium>& rest);

/// Describes each joint (position, positive direction, encoder, motor), each encoder between bodies
/// and each other sensor.
std::vector<std::string> describe_joints(const Rig& rig, const Eigen::VectorXd& coordinates);

/// Returns a coordinate as text: "12.5°" or "0.013 m".
std::string coordinate_text(estimator::JointKind kind, double value);

}  // namespace service
