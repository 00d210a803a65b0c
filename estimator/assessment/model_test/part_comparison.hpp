#pragma once

#include <optional>
#include <vector>

#include "estimator/assessment/identifiability/identifiability.hpp"
#include "estimator/assessment/part_consistency.hpp"
#include "estimator/fit/fit_options.hpp"
#include "estimator/fit/physical/shooting_fit.hpp"

namespace estimator {

/// An interval of a segment that is simulated from its own initial state.
struct Window {
  int segment = 0;
  int node = 0;        ///< first shooting node of the joint estimation
  int first = 0;       ///< index of the first sample
  int end = 0;         ///< one past the last sample
  double share = 0.0;  ///< share of the total encoder travel
};

/// The intervals of one recording that form one part.
using RecordingPart = std::vector<Window>;

/// Divides the segments of a fit into parts with about the same encoder travel: about eight parts
/// in all, at least one per recording. Cuts long segments at shooting nodes of the joint
/// estimation, and merges short segments.
std::vector<RecordingPart> divide_into_parts(const ShootingProblem& joint,
                                             const ShootingInput& input);

/// The parameter estimates from each part of the recordings, and their comparison.
struct PartEstimates {
  /// Compared parameters: the free ones that are at no bound.
  std::vector<int> parameters;
  PartComparison comparison;                 ///< comparison of these parameters
  std::vector<PartEstimate> part_estimates;  ///< estimates of these parameters from each part
};

/// Divides the recordings of a fit into parts with separate initial states, and compares the
/// parameter estimates from these parts. The estimates are linearised at the fitted parameters. The
/// noise comes from the residuals of each part if the open-loop simulation was fitted, otherwise
/// from the noise levels of the joint estimation.
/// @return nullopt if there are fewer than two parts or no free parameters
std::optional<PartEstimates> compare_parts(const ShootingFit& fit, bool refined,
                                           const CalibrationMonitor& monitor);

/// Inflates standard deviations and intervals if the parts of the recordings disagree. Uses the
/// larger of the deviation from noise and the deviation from the scatter between parts. Half-widths
/// use Student's factor for the number of parts that identify the parameter. Both deviations are
/// stored.
/// @param requested  parameters of `uncertainty`
void inflate_for_scatter(const PartEstimates& pieces, const std::vector<int>& requested,
                         Uncertainty& uncertainty);

/// Returns the estimates of all free parameters from each part of the recordings. Parameters that
/// were fixed or are at a bound are NaN.
std::vector<PartEstimate> part_estimates(const PartEstimates& pieces,
                                         const std::vector<int>& requested);

}  // namespace estimator
