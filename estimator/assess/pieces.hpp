#pragma once

#include <optional>
#include <vector>

#include "estimator/assess/agreement.hpp"
#include "estimator/assess/identifiability.hpp"
#include "estimator/fit/fit_options.hpp"
#include "estimator/fit/physical/shooting_fit.hpp"

namespace estimator {

/// What pieces of the recordings say of a fit.
struct Pieces {
  std::vector<int> parameters;      ///< that they are asked for: free, and at no bound
  PieceComparison comparison;       ///< of these
  std::vector<PieceEstimate> told;  ///< likewise
};

/// Cuts the recordings of a fit into pieces, gives each an initial state of its own, with all
/// parameters kept where the fit stands, and compares what they say of the parameters. Errors of
/// the readings are judged as those of the whole fit are: by the pieces' own residuals where the
/// simulation was fitted, else by the noise levels of the joint estimation.
///
/// @return nothing where there are fewer than two pieces, or nothing is free
std::optional<Pieces> compare_pieces(const ShootingFit& fit, bool refined,
                                     const CalibrationMonitor& monitor);

/// Widens deviations and intervals to the scatter of pieces that disagree: each is then the larger
/// of that from noise and that from the scatter, half-widths with Student's factor for as many
/// pieces as tell the parameter. Both are kept beside.
///
/// @param asked  parameters of `uncertainty`
void widen_for_scatter(const Pieces& pieces, const std::vector<int>& asked,
                       Uncertainty& uncertainty);

/// What the pieces tell of all parameters that were asked for; NaN of those held or at a bound.
std::vector<PieceEstimate> told_of(const Pieces& pieces, const std::vector<int>& asked);

}  // namespace estimator
