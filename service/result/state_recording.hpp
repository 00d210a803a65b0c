#pragma once

#include <string>
#include <vector>

#include "estimator/calibrate/state_estimate.hpp"

namespace service {

/// Writes estimated states as MCAP: one topic /rig/joint/NAME of rigcal.v1.JointEstimate per joint,
/// one message per sample. Values that are undetermined or not wanted are NaN.
/// @param estimates  of the segments of one recording
/// @param wanted     indices of StateEstimate's quantities
/// @throws proto::InputError if the file exists or cannot be written
void write_state_recording(const std::string& path, const estimator::Mechanism& mechanism,
                           const std::vector<estimator::StateEstimate>& estimates,
                           const std::vector<int>& wanted);

}  // namespace service
