#pragma once

#include <Eigen/Core>

namespace estimator {

/// A sensor with quantization errors only.
struct QuantizedSensor {
  int sensor = 0;        ///< index of the sensor and of its noise group
  double quantum = 0.0;  ///< quantization step [rad or m]
  double pre_quantization_variance =
      0.0;  ///< variance of analog noise before quantization [rad² or m²]
};

/// The harmonic sums Σ_t A_tᵀ e^{2πikθ_t/q} of one sensor over readings t with rows A_t of a matrix
/// A, angles θ_t and the quantization step q, times the amplitude of harmonic k of the quantization
/// error. Rows: columns of A. Columns: 2k−2 for the real and 2k−1 for the imaginary part of
/// harmonic k.
using Harmonics = Eigen::MatrixXd;

/// Computes the harmonic sums of one sensor, see Harmonics.
/// @param rows    matrix A of Harmonics, one row per reading
/// @param angles  measured angles [rad or m]
/// @param count   number of harmonics
/// @param unit    ratio of whitened to actual errors [1/rad or 1/m]
Harmonics sum_harmonics(const Eigen::MatrixXd& rows, const Eigen::VectorXd& angles, int count,
                        const QuantizedSensor& sensor, double unit);

/// Returns the part of the variance of a sensor's whitened quantization errors that their first
/// `count` harmonics do not represent.
double white_variance(const QuantizedSensor& sensor, double unit, int count);

/// Returns the covariance of Aᵀe, where A is `rows` and e the whitened quantization errors with a
/// random phase of the quantization grid [Wid08, ch. 5]. Harmonics above `count` are treated as
/// white noise.
Eigen::MatrixXd quantization_scatter(const Eigen::MatrixXd& rows, const Eigen::VectorXd& angles,
                                     int count, const QuantizedSensor& sensor, double unit);

}  // namespace estimator
