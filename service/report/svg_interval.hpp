#pragma once

#include <string>
#include <vector>

#include "estimator/assess/calibration.hpp"
#include "service/import/parameter_prior.hpp"

namespace service {

/// Scale shared by the intervals of a table: percent deviation from the estimate, logarithmic on
/// both sides, so that accuracies of 0.01 % and 30 % can be compared. It ends at 100 %. Its first
/// tick beside the estimate lies a decade below the narrowest interval.
class RelativeScale {
 public:
  explicit RelativeScale(const std::vector<estimator::ParameterEstimate>& estimates);

  /// Returns the position, between -1 and 1, of a deviation given as a share of the estimate.
  /// Deviations beyond the ends are clamped.
  double axis_position(double share) const;
  int decades() const { return decades_; }

 private:
  int decades_ = 3;  ///< from the centre to 100 %
};

/// Whether a parameter differs from zero: its 95 % interval excludes zero. Otherwise a deviation in
/// percent is meaningless.
bool interval_excludes_zero(const estimator::ParameterEstimate& estimate);

/// Draws one parameter on the scale: its 95 % interval (bar) around the estimate (dot), the prior's
/// 95 % interval (band) if any, bounds within the scale (ticks), and the initial value (ring, or an
/// arrow if beyond 100 %). A dashed line marks a parameter that is undetermined or compatible with
/// zero; one at a bound has no bar.
std::string svg_interval(const estimator::ParameterEstimate& estimate, const ParameterPrior& prior,
                         const RelativeScale& scale);

/// Draws the scale's tick labels, for the row above the intervals.
std::string svg_interval_axis(const RelativeScale& scale);

}  // namespace service
