#pragma once

#include <string>
#include <vector>

#include "estimator/calibrate/state_estimate.hpp"

namespace service {

/// What may be asked for of every joint, for people: "angle", "rate", ..., "moment", "force".
std::vector<std::string> state_names();

/// The quantities of StateEstimate that a name stands for; none for a name that is unknown.
std::vector<int> state_quantities(const std::string& name);

/// Whether where joints are is among the quantities: then controls stand beside them.
bool tells_angles(const std::vector<int>& wanted);

/// Estimated states as CSV: a row a sample; the time in its recording, then of every joint what is
/// wanted and can be told, each with its standard deviation behind it; with angles also the
/// controls as recorded, so that the file is a recording.
/// @param mechanism  whose joints these are
/// @param wanted     quantities of StateEstimate
std::string state_csv(const estimator::Mechanism& mechanism,
                      const std::vector<estimator::StateEstimate>& estimates,
                      const std::vector<int>& wanted);

}  // namespace service
