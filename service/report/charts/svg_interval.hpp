#pragma once

#include <string>
#include <vector>

#include "estimator/assessment/calibration.hpp"
#include "service/rig/parameters/parameter_prior.hpp"

namespace service {

/// Common axis of the confidence intervals in a table. It shows the deviation from the estimate in
/// percent, logarithmically on both sides, so that accuracies of 0.01 % and 30 % can be compared.
/// The axis ends at 100 %. The first tick is one decade below the narrowest interval.
class RelativeScale {
 public:
  explicit RelativeScale(const std::vector<estimator::ParameterEstimate>& estimates);

  /// Returns the position on the axis, between -1 and 1, of a relative deviation from the estimate.
  /// Deviations beyond the ends of the axis are clamped.
  double axis_position(double share) const;
  int decades() const { return decades_; }

 private:
  int decades_ = 3;  ///< number of decades from the centre to 100 %
};

/// Checks whether the 95 % confidence interval of a parameter excludes zero. If it includes zero, a
/// deviation in percent of the estimate is meaningless.
bool interval_excludes_zero(const estimator::ParameterEstimate& estimate);

/// Returns the SVG picture of one parameter. It shows the 95 % confidence interval as a bar, the
/// estimate as a dot, the 95 % interval of the prior as a band, and bounds on the axis as ticks.
/// The initial value is a ring, or an arrow if it is beyond 100 %. A dashed line marks a parameter
/// that is undetermined or compatible with zero. A parameter at a bound has no bar.
std::string svg_interval(const estimator::ParameterEstimate& estimate, const ParameterPrior& prior,
                         const RelativeScale& scale);

/// Returns the SVG of the tick labels of the common axis, for the row above the intervals.
std::string svg_interval_axis(const RelativeScale& scale);

}  // namespace service
