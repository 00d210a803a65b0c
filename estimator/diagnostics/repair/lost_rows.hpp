#pragma once

#include <vector>

#include "estimator/assessment/calibration.hpp"
#include "estimator/assessment/finding.hpp"
#include "estimator/diagnostics/jumps/jump_cause.hpp"

namespace estimator {

/// Explains a cut in a recording by the modelled motion on both sides: time was lost, or the motion
/// does not continue after the cut (break).
/// @param behind  index of the segment after the cut
JumpExplanation explain_cut(const Calibration& calibration, const Recording& recording, int behind);

/// The rows that a logger lost at a cut in a recording.
struct LostRows {
  int finding;             ///< index of the finding about the lost time
  int recording, segment;  ///< first segment after the cut
  int rows;
};

/// Finds the cuts at which a whole number of rows was lost, from an accepted model on both sides of
/// the cut. An evenly sampling logger loses only whole rows. Limited to evenly sampled recordings
/// that may continue over such a gap (`continues_across_gap`).
/// @param calibration  accepted calibration of these recordings
/// @param findings     findings of code kLostTime at cuts
std::vector<LostRows> find_lost_rows(const Calibration& calibration,
                                     const std::vector<Recording>& recordings,
                                     const std::vector<Finding>& findings);

/// Joins the segments at cuts with lost rows. Inserts rows without readings, and delays all later
/// rows accordingly.
std::vector<Recording> with_lost_rows(std::vector<Recording> recordings,
                                      const std::vector<LostRows>& lost);

/// Returns whether the model fits the joined segments as well as the cut segments, whose state
/// after the cut is free.
/// @param lost_times  number of joined cuts
bool are_rows_confirmed(const Calibration& cut, const Calibration& joined, int lost_times);

}  // namespace estimator
