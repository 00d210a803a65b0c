#pragma once

#include <optional>
#include <vector>

#include "estimator/assessment/identifiability/identifiability.hpp"
#include "estimator/assessment/part_consistency.hpp"
#include "estimator/fit/fit_options.hpp"
#include "estimator/fit/physical/shooting_fit.hpp"

namespace estimator {

/// The parameter estimates from each part of the recordings, and their comparison.
struct RecordingPartEstimates {
  /// Indices of the compared parameters: the free parameters that are not at a bound.
  std::vector<int> parameters;
  RecordingPartComparison comparison;  ///< comparison of these parameters
  std::vector<RecordingPartEstimate>
      part_estimates;  ///< estimates of these parameters from each part
};

/// Divides the recordings of a fit into parts with separate initial states, and compares the
/// parameter estimates from these parts. The estimates are linearised at the fitted parameters. The
/// noise comes from the residuals of each part if the open-loop simulation was fitted, otherwise
/// from the noise levels of the joint estimation.
/// @return nullopt if there are fewer than two parts or no free parameters
std::optional<RecordingPartEstimates> compare_recording_parts(const ShootingFit& fit, bool refined,
                                                              const CalibrationMonitor& monitor);

/// Inflates standard deviations and intervals if the parts of the recordings disagree. The larger
/// standard deviation is used: from noise, or from the scatter between parts. Half-widths use
/// Student's factor for the number of parts that identify the parameter. Both deviations are
/// stored.
/// @param requested  parameters of `uncertainty`
void inflate_uncertainty_for_scatter(const RecordingPartEstimates& parts,
                                     const std::vector<int>& requested,
                                     ParameterUncertainty& uncertainty);

/// Returns the estimates of all free parameters from each part of the recordings. Parameters that
/// were fixed or are at a bound are NaN.
std::vector<RecordingPartEstimate> list_estimates_by_part(const RecordingPartEstimates& parts,
                                                          const std::vector<int>& requested);

}  // namespace estimator
