#pragma once

#include <Eigen/Core>
#include <limits>
#include <vector>

#include "estimator/assess/calibration.hpp"
#include "estimator/doctor/excerpt.hpp"
#include "estimator/doctor/piece_fit.hpp"
#include "estimator/fit/fit_options.hpp"

namespace estimator {

/// The pieces that causes are tried on.
inline constexpr ExcerptBudget kMisfitBudget = {
    .duration = 9.0, .piece = 1.5, .period = 0.004, .rows = 2500};

/// A likely cause of a misfit that was fitted, and helps.
struct Cause {
  Finding finding;
  double cost_per_reading = std::numeric_limits<double>::infinity();
  Eigen::VectorXd rmse;
  Mechanism mechanism;            ///< with the cause and the values fitted
  std::vector<Recording> pieces;  ///< without the mistake
};

/// Work that may still be spent on causes, in units of PieceFit::work; counted, so that what is
/// told never depends on how fast a machine is.
struct WorkBudget {
  double left = 0.0;
  bool exceeded = false;  ///< something was left out
};

/// What causes are tried on.
struct MisfitCase {
  Mechanism estimate;
  std::vector<Recording> pieces;
  ExcerptBudget excerpts = kMisfitBudget;  ///< as which they were taken
  Eigen::VectorXd noise;
  const CalibrationMonitor& monitor;
  WorkBudget& budget;
  double cost_per_reading = 0.0;  ///< without any cause
  Eigen::VectorXd rmse;

  /// Goes on beside a cause.
  void take(const Cause& cause);

  /// None once the budget is spent.
  /// @param cost_most  as of PieceFit
  PieceFit fit(const Mechanism& mechanism, const std::vector<Recording>& recordings,
               double cost_most = std::numeric_limits<double>::infinity()) const;
  PieceFit fit(const Mechanism& mechanism) const { return fit(mechanism, pieces); }
};

/// Root mean square errors of all sensors [rad or m].
Eigen::VectorXd errors_of(const PieceFit& fit, Eigen::Index sensors);

/// Causes that help, in no particular order; as many as the budget allows, the likeliest first.
/// @param recordings  that the pieces are of; none: readings that stay at an end of an encoder's
///                    range are not looked for
std::vector<Cause> try_causes(const MisfitCase& on, const std::vector<Recording>& recordings);

}  // namespace estimator
