#pragma once

#include <string>
#include <vector>

#include "estimator/calibrate/state_estimate.hpp"

namespace service {

/// Writes estimated states as MCAP: a topic /rig/joint/NAME of rigcal.v1.JointEstimate for every
/// joint, a message a sample. What cannot be told or is not wanted is NaN.
/// @param estimates  of one recording
/// @param wanted     quantities of StateEstimate
/// @throws proto::InputError where the file exists, or cannot be written, saying why
void write_state_recording(const std::string& path, const estimator::Mechanism& mechanism,
                           const std::vector<estimator::StateEstimate>& estimates,
                           const std::vector<int>& wanted);

}  // namespace service
