#pragma once

#include <Eigen/Core>
#include <optional>
#include <string>
#include <vector>

#include "estimator/tree/rest_pose.hpp"
#include "service/import/rig_file.hpp"

namespace service {

/// Where the mechanism rests and how it swings there, a sentence each: "hangs at pivot = 0°; swings
/// at 0.93 Hz", "upright (pivot = 180°) does not hold: …", "1 turns freely".
/// @param rest  what find_rest says of it
std::vector<std::string> rest_words(const Rig& rig, const std::optional<estimator::RestPose>& rest);

/// Of each joint and encoder: where it stands, which way is positive, what reads and drives it; and
/// of each other sensor what it reads.
std::vector<std::string> joint_words(const Rig& rig, const Eigen::VectorXd& coordinates);

/// A coordinate for people: "12.5°" or "0.013 m".
std::string coordinate_text(estimator::JointKind kind, double value);

}  // namespace service
