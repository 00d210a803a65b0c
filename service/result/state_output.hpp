#pragma once

#include <string>
#include <vector>

#include "estimator/calibrate/state_estimate.hpp"

namespace service {

/// Writes estimated joint states to an MCAP file. Each joint has a topic /rig/joint/NAME with one
/// rigcal.v1.JointEstimate message per sample. Values that are not requested or not identifiable
/// are NaN.
/// @param estimates  estimates of the segments of one recording
/// @param wanted     indices of the requested quantities of StateEstimate
/// @throws proto::InputError if the file exists or cannot be written
void write_state_mcap(const std::string& path, const estimator::Mechanism& mechanism,
                      const std::vector<estimator::StateEstimate>& estimates,
                      const std::vector<int>& wanted);

/// Returns the names of the joint states that a user can request, e.g. "angle", "rate" or "force".
std::vector<std::string> requestable_state_names();

/// Returns the indices of those quantities of StateEstimate that a state name such as "angle"
/// selects; empty for an unknown name.
std::vector<int> find_state_quantities(const std::string& name);

/// Returns whether joint positions are among the requested quantities of StateEstimate. Files with
/// joint positions also contain the controls.
bool includes_joint_positions(const std::vector<int>& wanted);

/// Returns estimated states as CSV text with one row per sample. A row contains the time in the
/// recording and the requested, identifiable states of each joint with standard deviations. A file
/// with joint positions also contains the recorded controls and can be used as a recording.
/// @param mechanism  mechanism whose joint states were estimated
/// @param wanted     indices of the requested quantities of StateEstimate
std::string format_state_csv(const estimator::Mechanism& mechanism,
                             const std::vector<estimator::StateEstimate>& estimates,
                             const std::vector<int>& wanted);

}  // namespace service
