#pragma once

#include <string>
#include <vector>

#include "estimator/calibrate/state_estimate.hpp"

namespace service {

/// Writes estimated joint states to an MCAP file. Each joint has a topic /rig/joint/NAME with one
/// rigcal.v1.JointEstimate message per sample. Values that are not requested or not identifiable
/// are NaN.
/// @param estimates  estimates for the segments of one recording
/// @param wanted     indices of the requested quantities of StateEstimate
/// @throws proto::InputError if the file exists or cannot be written
void write_state_recording(const std::string& path, const estimator::Mechanism& mechanism,
                           const std::vector<estimator::StateEstimate>& estimates,
                           const std::vector<int>& wanted);

/// Returns the names of the states that a user can request, e.g. "angle", "rate" or "force".
std::vector<std::string> state_names();

/// Returns the indices of the quantities of StateEstimate that belong to a state name; empty for an
/// unknown name.
std::vector<int> state_quantities(const std::string& name);

/// Checks whether joint positions are among these quantities of StateEstimate. If they are, the
/// controls are written too.
bool includes_angles(const std::vector<int>& wanted);

/// Formats estimated states as CSV with one row per sample. A row has the time in the recording and
/// the requested, identifiable states of each joint with their standard deviations. If joint
/// positions are requested, a row also has the recorded controls, so that the file can be used as a
/// recording.
/// @param mechanism  mechanism whose joint states were estimated
/// @param wanted     indices of the requested quantities of StateEstimate
std::string state_csv(const estimator::Mechanism& mechanism,
                      const std::vector<estimator::StateEstimate>& estimates,
                      const std::vector<int>& wanted);

}  // namespace service
