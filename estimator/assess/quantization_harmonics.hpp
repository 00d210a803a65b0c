#pragma once

#include <Eigen/Core>

namespace estimator {

/// A sensor whose errors are quantization errors.
struct QuantizedSensor {
  int sensor = 0;        ///< also its noise group
  double quantum = 0.0;  ///< [rad or m]
  double pre_quantization_variance =
      0.0;  ///< variance of white noise before quantization, in its unit squared
};

/// Sums Σ_t A_tᵀ e^{2πikθ_t/q} over the readings of one sensor, times the amplitude of harmonic k
/// of its error: columns of A × 2·count, columns 2k−2 (real) and 2k−1 (imaginary part).
using Harmonics = Eigen::MatrixXd;

/// Computes the harmonic sums of one sensor.
/// @param rows    A, one row per reading
/// @param angles  the angles read [rad or m]
/// @param count   number of harmonics
/// @param unit    ratio of whitened to actual errors [1/rad or 1/m]
Harmonics sum_harmonics(const Eigen::MatrixXd& rows, const Eigen::VectorXd& angles, int count,
                        const QuantizedSensor& sensor, double unit);

/// Returns the variance of a sensor's whitened errors that `count` harmonics do not represent.
double white_variance(const QuantizedSensor& sensor, double unit, int count);

/// Covariance of Aᵀe for whitened quantization errors e with a random phase of the quantization
/// grid [Wid08, ch. 5]. The part beyond the harmonics counts as white.
Eigen::MatrixXd quantization_scatter(const Eigen::MatrixXd& rows, const Eigen::VectorXd& angles,
                                     int count, const QuantizedSensor& sensor, double unit);

}  // namespace estimator
