#pragma once

#include <string>
#include <vector>

#include "estimator/assess/calibration.hpp"
#include "service/import/parameter_prior.hpp"

namespace service {

/// The scale that the intervals of a table share: per cent off the estimate, logarithmic to either
/// side, so that what is known to 0.01 % and what is known to 30 % can be compared. It ends at 100
/// % and begins, next to the estimate, a decade below the sharpest interval.
class RelativeScale {
 public:
  explicit RelativeScale(const std::vector<estimator::ParameterEstimate>& estimates);

  /// Place between -1 and 1 of a deviation from the estimate, as a share of it. What lies beyond an
  /// end is put there.
  double place(double share) const;
  int decades() const { return decades_; }

 private:
  int decades_ = 3;  ///< from the centre to 100 %
};

/// Whether a parameter's size is told at all: its 95 % interval does not reach zero. Deviations of
/// others are no share of anything.
bool has_relative_interval(const estimator::ParameterEstimate& estimate);

/// One parameter on the scale: its 95 % interval (bar) around the estimate (dot), the prior's 95 %
/// (band) where there is one, bounds that lie on the scale (ticks), and the start (ring, or an
/// arrow to where it lies beyond 100 %). One that the data do not see is a dashed line, as is one
/// that cannot be told from zero; one at a bound has no bar.
std::string svg_interval(const estimator::ParameterEstimate& estimate, const ParameterPrior& prior,
                         const RelativeScale& scale);

/// The scale's ticks, to stand above.
std::string svg_interval_axis(const RelativeScale& scale);

}  // namespace service
