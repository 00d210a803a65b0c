#pragma once

#include <optional>
#include <vector>

#include "estimator/assess/agreement.hpp"
#include "estimator/assess/identifiability.hpp"
#include "estimator/fit/fit_options.hpp"
#include "estimator/fit/physical/shooting_fit.hpp"

namespace estimator {

/// Estimates from the parts of the recordings, and their comparison.
struct Pieces {
  std::vector<int> parameters;                ///< compared parameters: free, and at no bound
  PieceComparison comparison;                 ///< of these parameters
  std::vector<PieceEstimate> part_estimates;  ///< estimate of each part, likewise
};

/// Divides the recordings of a fit into parts with their own initial states, keeps all parameters
/// at the fitted values, and compares the parts' estimates by linearisation. Noise is assessed as
/// for the whole fit: by the parts' own residuals if the simulation was fitted, otherwise by the
/// noise levels of the joint estimation.
///
/// @return nothing for fewer than two parts, or without free parameters
std::optional<Pieces> compare_pieces(const ShootingFit& fit, bool refined,
                                     const CalibrationMonitor& monitor);

/// Inflates standard deviations and intervals if parts disagree: each is the larger one from noise
/// and from scatter. Half-widths use Student's factor for the number of parts that identify the
/// parameter. Both components are stored.
///
/// @param asked  parameters of `uncertainty`
void widen_for_scatter(const Pieces& pieces, const std::vector<int>& asked,
                       Uncertainty& uncertainty);

/// Returns the parts' estimates of all free parameters; NaN for fixed ones and those at a bound.
std::vector<PieceEstimate> told_of(const Pieces& pieces, const std::vector<int>& asked);

}  // namespace estimator
