#pragma once

#include <Eigen/Core>
#include <optional>
#include <string>
#include <vector>

#include "estimator/simulation/statics/equilibrium.hpp"
#include "service/rig/rig_file.hpp"

namespace service {

/// Returns sentences that describe the rest position and small oscillations of a rig, e.g. "hangs
/// at pivot = 0°; swings at 0.93 Hz", "upright (pivot = 180°) is unstable: …", "1 turns freely: …".
/// @param rest  result of find_stable_equilibrium
std::vector<std::string> describe_rest(const Rig& rig,
                                       const std::optional<estimator::Equilibrium>& rest);

/// Returns sentences that describe each joint (position, positive direction, encoder, motor), each
/// encoder between bodies, and each other sensor of a rig.
std::vector<std::string> describe_joints(const Rig& rig, const Eigen::VectorXd& coordinates);

/// Returns a joint coordinate with its unit as text: "12.5°" or "0.013 m".
std::string coordinate_text(estimator::JointKind kind, double value);

}  // namespace service
