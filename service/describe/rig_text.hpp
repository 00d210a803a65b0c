#pragma once

#include <string>

#include "service/describe/rig_answers.hpp"

namespace service {

/// Returns a commented rig file. Every quantity is marked as given, assumed, or unknown and
/// estimated. Only parameters that the recorded quantities can identify are free.
///
/// Defaults for missing values: lengths and masses of a table-top rig, or a length from the
/// oscillations of the recording; centres of mass halfway; inertias of slender rods.
/// @throws proto::InputError if a value without a default is missing
std::string rig_text(const RigAnswers& answers);

}  // namespace service
