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

}  // namespace service
