#pragma once

#include <vector>

#include "estimator/assess/calibration.hpp"
#include "estimator/assess/finding.hpp"
#include "estimator/diagnostics/jump_cause.hpp"

namespace estimator {

/// Classifies a cut in a recording by a model of the motion on both sides: lost time, or a break
/// where the motion does not continue.
/// @param behind  index of the segment after the cut
JumpExplanation explain_cut(const Calibration& calibration, const Recording& recording, int behind);

/// Rows that a logger lost at a cut for lost time.
struct LostRows {
  int finding;             ///< index of the lost-time finding
  int recording, segment;  ///< first segment after the cut
  int rows;
};

/// Finds the lost times that amount to whole rows, by an accepted model on both sides of the cut:
/// an evenly sampling logger loses only whole rows. Limited to evenly sampled recordings that may
/// continue over such a gap (`continues_across_gap`).
///
/// @param calibration  of these recordings
/// @param findings     of kind "lost-time", at cuts
std::vector<LostRows> find_lost_rows(const Calibration& calibration,
                                     const std::vector<Recording>& recordings,
                                     const std::vector<Finding>& findings);

/// Joins the segments at these cuts: inserts rows without readings for the lost ones and delays
/// everything after them accordingly.
std::vector<Recording> with_lost_rows(std::vector<Recording> recordings,
                                      const std::vector<LostRows>& lost);

/// Returns whether the model fits across the lost rows as well as with a free state after them.
/// @param lost_times  number of joined cuts
bool are_rows_confirmed(const Calibration& cut, const Calibration& joined, int lost_times);

}  // namespace estimator
