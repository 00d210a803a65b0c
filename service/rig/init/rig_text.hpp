#pragma once

#include <string>

#include "service/rig/init/rig_answers.hpp"

namespace service {

/// Returns the text of a rig file with comments. A comment marks each quantity as given, assumed,
/// or unknown and estimated. Only parameters that the recorded quantities can identify are free.
///
/// Missing values have defaults: masses and lengths of a table-top rig, or a length computed from
/// the oscillation frequency in the recording; centres of mass at half length; inertias of slender
/// rods.
/// @throws proto::InputError if a value without a default is missing
std::string rig_text(const RigAnswers& answers);

}  // namespace service
