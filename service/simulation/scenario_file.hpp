#pragma once

#include <Eigen/Core>
#include <optional>
#include <string>

#include "estimator/model/mechanism.hpp"
#include "service/rig/rig_file.hpp"
#include "service/simulation/scenario.hpp"

namespace service {

/// Returns the initial coordinates of all joints for a simulation [rad or m].
///
/// Joints without a given coordinate start at zero. A mechanism with kinematic loops starts from
/// its stable equilibrium (find_stable_equilibrium). From there the joints with a given coordinate
/// are moved to it while the loops stay closed.
///
/// @param stated  given coordinate of each joint; NaN if not given
/// @return nullopt if the loops cannot be closed with the given coordinates
std::optional<Eigen::VectorXd> assemble_joints(const estimator::Mechanism& mechanism,
                                               const Eigen::VectorXd& stated);

/// Returns the limits of a motor's command in the rig file. Limits in the safety section take
/// precedence over the control range of the motor.
/// @param motor  index of the driven joint
daq::CommandLimits motor_command_limits(const Rig& rig, int motor);

/// Reads and checks a scenario file (proto/scenario.proto) for a rig.
/// @throws InputError "FILE:LINE:COLUMN: message; remedy"
Scenario load_scenario(const std::string& path, const Rig& rig);

/// Parses and checks the text of a scenario file for a rig. A recording to replay is searched for
/// in the folder of `path`.
/// @throws InputError "FILE:LINE:COLUMN: message; remedy"
Scenario parse_scenario(const std::string& path, const std::string& text, const Rig& rig);

}  // namespace service
