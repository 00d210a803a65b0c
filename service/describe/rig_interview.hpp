#pragma once

#include "service/describe/interview.hpp"
#include "service/describe/rig_answers.hpp"
#include "service/describe/rig_proposal.hpp"

namespace service {

/// Asks for the kind of rig, and for a chain's number of links.
void ask_kind(Interview& interview, RigAnswers& answers);

/// Asks for known lengths and masses.
void ask_links(Interview& interview, RigAnswers& answers);

/// Shows the guessed columns for confirmation. Then asks what a recording cannot show: absolute or
/// relative angles, the positive direction, and whether a motor drives the rig.
///
/// @param choice  earlier choices
void ask_columns(Interview& interview, const std::vector<ColumnProfile>& columns,
                 ColumnChoice choice, RigAnswers& answers);

}  // namespace service
