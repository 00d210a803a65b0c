#pragma once

#include "service/describe/interview.hpp"
#include "service/describe/rig_answers.hpp"
#include "service/describe/rig_proposal.hpp"

namespace service {

/// Asks which kind of rig it is, and how many links a chain has.
void ask_kind(Interview& interview, RigAnswers& answers);

/// Asks for what is known of lengths and masses.
void ask_links(Interview& interview, RigAnswers& answers);

/// Shows what the columns were taken for and asks whether that is right, and what cannot be seen
/// in a recording: absolute or relative angles, which way is positive, whether a motor drives it.
///
/// @param choice  what was said before; the answers are added
void ask_columns(Interview& interview, const std::vector<ColumnLook>& columns, ColumnChoice choice,
                 RigAnswers& answers);

}  // namespace service
