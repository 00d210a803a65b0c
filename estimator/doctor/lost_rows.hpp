#pragma once

#include <vector>

#include "estimator/assess/calibration.hpp"
#include "estimator/assess/finding.hpp"
#include "estimator/doctor/step_cause.hpp"

namespace estimator {

/// What a cut in a recording stands for, by a model of the motion on both sides: lost time, or a
/// break where the motion does not go on.
/// @param behind  index of the segment behind the cut
StepExplanation explain_cut(const Calibration& calibration, const Recording& recording, int behind);

/// Rows that a logger lost where a recording was cut for lost time.
struct LostRows {
  int finding;             ///< that tells of the lost time
  int recording, segment;  ///< the first segment behind the cut
  int rows;
};

/// The lost times that are of whole rows, by a model that holds on both sides of the cut: a logger
/// that samples evenly loses no others. Only where the recording goes on over so many (`goes_on`)
/// and was sampled evenly.
///
/// @param calibration  of these recordings
/// @param findings     of kind "lost-time", where recordings were cut
std::vector<LostRows> find_lost_rows(const Calibration& calibration,
                                     const std::vector<Recording>& recordings,
                                     const std::vector<Finding>& findings);

/// Joins what was cut: rows without readings stand for those that were lost, and everything behind
/// is later by as much.
std::vector<Recording> with_lost_rows(std::vector<Recording> recordings,
                                      const std::vector<LostRows>& lost);

/// Whether the model explains readings over the lost rows as well as with a state that starts anew
/// behind them.
/// @param lost_times  that are joined
bool are_rows_confirmed(const Calibration& cut, const Calibration& joined, int lost_times);

}  // namespace estimator
