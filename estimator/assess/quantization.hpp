#pragma once

#include <Eigen/Core>
#include <vector>

#include "estimator/assess/quantization_harmonics.hpp"
#include "estimator/fit/physical/shooting_problem.hpp"
#include "estimator/optimize/covariance.hpp"
#include "estimator/signal/time_series.hpp"

namespace estimator {

/// Returns the quantization step: the smallest unit of which all differences of a sensor's readings
/// are whole multiples [rad]; 0: none, or mere rounding of decimals.
/// @param scale  of the sensor's unit, JointUnits::scale
double find_quantum(const std::vector<Segment>& segments, int sensor, double scale = 1.0);

/// Variance of the noise before quantization [rad²]; 0 if quantization alone explains the scatter
/// between readings.
double pre_quantization_noise(const std::vector<Segment>& segments, int sensor, double quantum);

/// Returns whether errors of one sensor, by segment, can be quantization errors: except for a small
/// share, none exceeds half a quantization step plus the noise before quantization. A joint at rest
/// has the same error all the time.
bool is_quantization_error(const std::vector<Eigen::VectorXd>& errors, double quantum,
                           double pre_quantization_variance);

/// Returns whether errors of one sensor, by segment, are more correlated than quantization
/// explains. Tests products of errors some hundredths of a second apart, during which the sensor
/// moves by at least two quantization steps. Minus their mean over the phase of the quantization
/// grid (see `quantization_errors`), these products have zero mean if quantization is the only
/// cause. Products within one step of travel are summed, however long it takes, since a joint that
/// sticks or turns back repeats its error. The threshold is five standard deviations of the sum.
///
/// @param angles  modelled angles of the errors
/// @param analog  variance of white noise before quantization [rad²]
bool is_correlated_beyond_quantization(const std::vector<Eigen::VectorXd>& errors,
                                       const std::vector<Eigen::VectorXd>& angles, double period,
                                       double quantum, double pre_quantization_variance);

/// Effect of encoder errors e on the gradient Tᵀe of the parameters, in whitened units. Readings do
/// not change within one quantization step, so errors of a resting or slow joint are strongly
/// correlated, and their weighted sum need not be normal.
struct QuantizationErrors {
  std::vector<QuantizedSensor> sensors;
  std::vector<Eigen::MatrixXd> scatter;  ///< covariance of Tᵀe, one matrix per sensor
  std::vector<std::vector<Eigen::MatrixXd>> segment_scatter;  ///< of these, by sensor and segment
  /// Approximately normal part of all of them: noise before quantization, and high harmonics.
  Eigen::MatrixXd normal_scatter;
  Eigen::MatrixXd draws;  ///< parameters × draws, summed over sensors; without the normal part
};

/// Computes the effect of quantization errors. With a quantization step q and a random phase of the
/// quantization grid, errors at angles d apart have the covariance (q²/12) (1 − 6x + 6x²),
/// x = frac(d/q) [Wid08, ch. 5]. As a Fourier series in d, the double sum over time becomes one sum
/// per harmonic, so the computing time is linear in the number of readings. Phases of segments and
/// sensors are independent; the random seed is fixed. Whether errors at turning points add up
/// depends on the distance of these points in fractions of a count, which readings determine only
/// roughly. Samples are therefore drawn around motions perturbed by such errors.
///
/// @param problem  one node per segment, at its optimum
/// @param inverse  S⁻¹ there; empty: no samples
/// @param draws    number of samples; the default's 95 % quantile is one at 95 ± 0.35 %
QuantizationErrors quantization_errors(const ShootingProblem& problem,
                                       const std::vector<QuantizedSensor>& sensors,
                                       const Eigen::MatrixXd& inverse = {}, int draws = 4000);

}  // namespace estimator
