#pragma once

#include <limits>
#include <vector>

namespace estimator {

/// The distribution of a parameter's estimates over the draws of a bootstrap, and its 95 %
/// intervals.
struct BootstrapDistribution {
  int draws = 0;  ///< number of draws that identify the parameter
  double mean = std::numeric_limits<double>::quiet_NaN();
  double standard_deviation = std::numeric_limits<double>::quiet_NaN();
  /// Percentile interval: the 2.5 % and 97.5 % quantiles.
  double lower = std::numeric_limits<double>::quiet_NaN();
  double upper = std::numeric_limits<double>::quiet_NaN();
  /// BCa interval: bias-corrected and accelerated [Efr93, ch. 14].
  double bca_lower = std::numeric_limits<double>::quiet_NaN();
  double bca_upper = std::numeric_limits<double>::quiet_NaN();

  double half_interval() const { return 0.5 * (upper - lower); }
};

/// Summarizes the estimates of a parameter over the draws of a bootstrap. NaN draws are left out.
/// With fewer than two draws, all members but `draws` are NaN.
/// @param estimate      estimate from the recordings
/// @param acceleration  result of `estimate_bca_acceleration`
BootstrapDistribution summarize_draws(std::vector<double> draws, double estimate,
                                      double acceleration);

/// Returns the acceleration a of the BCa interval, the rate at which the standard deviation of an
/// estimate changes with its true value. It is computed from estimates without one part of the
/// recordings:
///
///   a = Σ d³ / (6 (Σ d²)^{3/2}),  d = mean − estimate without the part.
///
/// NaN estimates are left out. Returns 0 for fewer than five estimates.
double estimate_bca_acceleration(const std::vector<double>& without_one);

/// Returns the standard deviation of the estimate from all parts by the delete-one jackknife,
/// √((n−1)/n Σ d²). NaN for fewer than two estimates, or if an estimate is NaN.
double compute_jackknife_deviation(const std::vector<double>& without_one);

}  // namespace estimator
