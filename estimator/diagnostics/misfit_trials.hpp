#pragma once

#include <Eigen/Core>
#include <limits>
#include <vector>

#include "estimator/assess/calibration.hpp"
#include "estimator/diagnostics/excerpt.hpp"
#include "estimator/diagnostics/excerpt_fit.hpp"
#include "estimator/fit/fit_options.hpp"

namespace estimator {

/// Excerpts on which causes are tried.
inline constexpr ExcerptBudget kMisfitBudget = {
    .duration = 9.0, .piece = 1.5, .period = 0.004, .rows = 2500};

/// A fitted cause of a misfit that improves the fit.
struct Cause {
  Finding finding;
  double cost_per_reading = std::numeric_limits<double>::infinity();
  Eigen::VectorXd rmse;
  Mechanism mechanism;            ///< with the cause and the fitted values
  std::vector<Recording> pieces;  ///< with the error corrected
};

/// Remaining work for trying causes, in units of ExcerptFit::work. A count, not a time, so that
/// findings do not depend on the speed of the computer.
struct WorkBudget {
  double left = 0.0;
  bool exceeded = false;  ///< some causes were skipped
};

/// Input of the trials of causes.
struct MisfitProblem {
  Mechanism estimate;
  std::vector<Recording> pieces;
  ExcerptBudget excerpts = kMisfitBudget;  ///< limits the pieces were taken with
  Eigen::VectorXd noise;
  const CalibrationMonitor& monitor;
  WorkBudget& budget;
  double cost_per_reading = 0.0;  ///< without any cause
  Eigen::VectorXd rmse;

  /// Continues with a cause included.
  void take(const Cause& cause);

  /// Returns no fit once the budget is spent.
  /// @param cost_max  see ExcerptFit
  ExcerptFit fit(const Mechanism& mechanism, const std::vector<Recording>& recordings,
                 double cost_max = std::numeric_limits<double>::infinity()) const;
  ExcerptFit fit(const Mechanism& mechanism) const { return fit(mechanism, pieces); }
};

/// Root-mean-square errors of all sensors [rad or m].
Eigen::VectorXd errors_of(const ExcerptFit& fit, Eigen::Index sensors);

/// Returns the causes that improve the fit, unordered. Tries the likeliest first, as many as the
/// budget allows.
/// @param recordings  the recordings of the pieces; empty: clipped readings are not tried
std::vector<Cause> try_causes(const MisfitProblem& on, const std::vector<Recording>& recordings);

}  // namespace estimator
