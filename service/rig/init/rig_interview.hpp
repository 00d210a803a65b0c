#pragma once

#include "service/rig/init/interview.hpp"
#include "service/rig/init/rig_answers.hpp"
#include "service/rig/init/rig_proposal.hpp"

namespace service {

/// Asks the user for the kind of rig and, for a chain, for the number of links. Stores both in
/// `answers`.
void ask_kind(Interview& interview, RigAnswers& answers);

/// Asks the user for the lengths and masses of the links that are known. Stores them in `answers`.
void ask_links(Interview& interview, RigAnswers& answers);

/// Shows the guessed columns of a recording and asks the user to confirm them. Afterwards it asks
/// for facts that a recording cannot show: absolute or relative angles, the positive direction, and
/// whether a motor drives the rig.
///
/// @param choice  columns that the user has already chosen
void ask_columns(Interview& interview, const std::vector<ColumnProfile>& columns,
                 ColumnChoice choice, RigAnswers& answers);

}  // namespace service
