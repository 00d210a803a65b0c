#pragma once

#include <optional>
#include <vector>

#include "estimator/assess/identifiability.hpp"
#include "estimator/assess/part_consistency.hpp"
#include "estimator/fit/fit_options.hpp"
#include "estimator/fit/physical/shooting_fit.hpp"

namespace estimator {

/// Estimates from the parts of the recordings, and their comparison.
struct PartEstimates {
  std::vector<int> parameters;               ///< compared parameters: free, and at no bound
  PartComparison comparison;                 ///< of these parameters
  std::vector<PartEstimate> part_estimates;  ///< estimate of each part, likewise
};

/// Divides the recordings of a fit into parts with their own initial states, keeps all parameters
/// at the fitted values, and compares the parts' estimates by linearisation. Noise is assessed as
/// for the whole fit: by the parts' own residuals if the simulation was fitted, otherwise by the
/// noise levels of the joint estimation.
///
/// @return nothing for fewer than two parts, or without free parameters
std::optional<PartEstimates> compare_parts(const ShootingFit& fit, bool refined,
                                           const CalibrationMonitor& monitor);

/// Inflates standard deviations and intervals if parts disagree: each is the larger one from noise
/// and from scatter. Half-widths use Student's factor for the number of parts that identify the
/// parameter. Both components are stored.
///
/// @param asked  parameters of `uncertainty`
void inflate_for_scatter(const PartEstimates& pieces, const std::vector<int>& requested,
                         Uncertainty& uncertainty);

/// Returns the parts' estimates of all free parameters; NaN for fixed ones and those at a bound.
std::vector<PartEstimate> part_estimates(const PartEstimates& pieces,
                                         const std::vector<int>& requested);

}  // namespace estimator
