#pragma once

#include <Eigen/Core>
#include <limits>
#include <vector>

#include "estimator/assessment/calibration.hpp"
#include "estimator/diagnostics/description/excerpt.hpp"
#include "estimator/diagnostics/misfit/excerpt_fit.hpp"
#include "estimator/fit/fit_options.hpp"

namespace estimator {

/// Length and sampling of the excerpts to which possible causes of a misfit are fitted.
inline constexpr ExcerptBudget kMisfitBudget = {
    .duration = 9.0, .piece = 1.5, .period = 0.004, .rows = 2500};

/// A possible cause of a misfit that improves the fit, with its fitted size.
struct Cause {
  Finding finding;
  double cost_per_reading = std::numeric_limits<double>::infinity();
  Eigen::VectorXd rmse;
  Mechanism mechanism;            ///< mechanism that includes the cause, with fitted values
  std::vector<Recording> pieces;  ///< excerpts with the error corrected
};

/// The remaining computing work for trying causes, in units of ExcerptFit::work. A count of steps,
/// not a time, so that findings do not depend on the speed of the computer.
struct WorkBudget {
  double left = 0.0;
  bool exceeded = false;  ///< whether some causes were skipped
};

/// The misfit of a calibration, and the excerpts to which its possible causes are fitted.
struct MisfitProblem {
  Mechanism estimate;
  std::vector<Recording> pieces;
  /// Limits with which the excerpts `pieces` were selected.
  ExcerptBudget excerpts = kMisfitBudget;
  Eigen::VectorXd noise;
  const CalibrationMonitor& monitor;
  WorkBudget& budget;
  double cost_per_reading = 0.0;  ///< cost without any cause
  Eigen::VectorXd rmse;

  /// Includes a cause in the model and the excerpts before further causes are tried.
  void take(const Cause& cause);

  /// Fits a mechanism to excerpts. The cost is infinite once the work budget is spent.
  /// @param cost_max  see ExcerptFit
  ExcerptFit fit(const Mechanism& mechanism, const std::vector<Recording>& recordings,
                 double cost_max = std::numeric_limits<double>::infinity()) const;
  ExcerptFit fit(const Mechanism& mechanism) const { return fit(mechanism, pieces); }
};

/// Returns the root-mean-square errors of all sensors [rad or m].
Eigen::VectorXd errors_of(const ExcerptFit& fit, Eigen::Index sensors);

/// Returns the causes of a misfit that improve the fit, in no particular order. Tries the likeliest
/// causes first, as many as the work budget allows.
/// @param recordings  whole recordings; if empty, clipped readings are not tried
std::vector<Cause> try_causes(const MisfitProblem& on, const std::vector<Recording>& recordings);

}  // namespace estimator
