#pragma once

#include <string>
#include <vector>

#include "estimator/calibrate/state_estimate.hpp"

namespace service {

/// Returns the names of the states that can be requested: "angle", "rate", ..., "moment", "force".
std::vector<std::string> state_names();

/// Returns the quantities of StateEstimate for a name; none if the name is unknown.
std::vector<int> state_quantities(const std::string& name);

/// Whether joint positions are among the quantities; the controls are then written, too.
bool includes_angles(const std::vector<int>& wanted);

/// Formats estimated states as CSV, a row per sample: the time in its recording, then each
/// requested and identifiable state of each joint, followed by its standard deviation. With angles
/// it includes the recorded controls, so that the file can be used as a recording.
/// @param mechanism  has the joints
/// @param wanted     quantities of StateEstimate
std::string state_csv(const estimator::Mechanism& mechanism,
                      const std::vector<estimator::StateEstimate>& estimates,
                      const std::vector<int>& wanted);

}  // namespace service
