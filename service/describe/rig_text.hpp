#pragma once

#include <string>

#include "service/describe/rig_answers.hpp"

namespace service {

/// A rig file with comments, as people write them. Every quantity says whether it was given, is
/// assumed, or is not known and estimated; of what angles alone can tell, no more is free than they
/// can.
///
/// What is not given is taken so: lengths and masses of the size of a table-top rig, or a length
/// from the swings of the recording; centres of mass halfway; inertias of slender rods.
/// @throws proto::InputError where something is missing that nobody could assume
std::string rig_text(const RigAnswers& answers);

}  // namespace service
