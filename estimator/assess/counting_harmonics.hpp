#pragma once

#include <Eigen/Core>

namespace estimator {

/// A sensor whose errors are those of counting.
struct CountingSensor {
  int sensor = 0;        ///< and noise group
  double quantum = 0.0;  ///< [rad or m]
  double analog = 0.0;   ///< variance of white noise before counting, in its unit squared
};

/// Sums Σ_t A_tᵀ e^{2πikθ_t/q} over the readings of one sensor, times the amplitude of the harmonic
/// k of its error: columns of A × 2·count, columns 2k−2 (real) and 2k−1 (imaginary part).
using Harmonics = Eigen::MatrixXd;

/// @param rows    A, one a reading
/// @param angles  that are read [rad or m]
/// @param count   of harmonics
/// @param unit    whitened errors to errors [1/rad or 1/m]
Harmonics sum_harmonics(const Eigen::MatrixXd& rows, const Eigen::VectorXd& angles, int count,
                        const CountingSensor& sensor, double unit);

/// What so many harmonics leave of the variance of a sensor's whitened errors.
double white_variance(const CountingSensor& sensor, double unit, int count);

/// Covariance of Aᵀe, e being whitened errors of counting at a phase of the code disc that is
/// anybody's guess [Wid08, ch. 5]; what lies beyond the harmonics counts as white.
Eigen::MatrixXd counting_scatter(const Eigen::MatrixXd& rows, const Eigen::VectorXd& angles,
                                 int count, const CountingSensor& sensor, double unit);

}  // namespace estimator
