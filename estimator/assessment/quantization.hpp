#pragma once

#include <Eigen/Core>
#include <vector>

#include "estimator/fit/physical/shooting/shooting_problem.hpp"
#include "estimator/signal/time_series.hpp"

namespace estimator {

/// A sensor whose reading errors are due to quantization only.
struct QuantizedSensor {
  int sensor = 0;        ///< index of the sensor and of its noise group
  double quantum = 0.0;  ///< quantization step [rad or m]
  double pre_quantization_variance =
      0.0;  ///< variance of analog noise before quantization [rad² or m²]
};

/// Returns the covariance of a weighted sum of a sensor's quantization errors, for a random phase
/// of the quantization grid [Wid08, ch. 5]. The sum is Aᵀe with A = `rows` and the whitened errors
/// e. Harmonics above the first `count` are treated as white noise.
Eigen::MatrixXd compute_quantization_covariance(const Eigen::MatrixXd& rows,
                                                const Eigen::VectorXd& angles, int count,
                                                const QuantizedSensor& sensor, double unit);

/// Returns the quantization step of a sensor [rad]: the largest step that divides all differences
/// between its readings. Returns 0 if there is no such step, or if it only reflects decimal
/// rounding.
/// @param scale  JointUnits::scale of the sensor's unit
double find_quantization_step(const std::vector<Segment>& segments, int sensor, double scale = 1.0);

/// Returns the noise of a sensor's readings [rad or m]: their scatter, but at least the
/// quantization noise. The scatter of a slow joint underestimates quantization noise.
double estimate_reading_noise(const std::vector<Segment>& segments, int sensor, double scale = 1.0);

/// Returns the variance of the analog noise that a sensor's signal has before quantization [rad²].
/// Returns 0 if quantization alone explains the scatter between readings.
double estimate_noise_before_quantization(const std::vector<Segment>& segments, int sensor,
                                          double quantum);

/// Returns whether the errors of one sensor can be quantization errors: few of them exceed half a
/// quantization step plus the analog noise before quantization. The distribution is not tested,
/// since a joint at rest repeats one error.
bool can_be_quantization_error(const std::vector<Eigen::VectorXd>& errors, double quantum,
                               double pre_quantization_variance);

/// Returns whether the errors of one sensor are more correlated over time than quantization
/// explains. Tests products of errors some hundredths of a second apart, if the sensor moves by at
/// least two quantization steps in between. From each product, its mean over the phase of the
/// quantization grid is subtracted (see `compute_quantization_errors`). The result has zero mean if
/// quantization is the only cause of the errors. Products from the time in which the joint moves by
/// less than one quantization step are first summed, however long this time is, since a joint that
/// sticks or turns back repeats its error. The threshold is five standard deviations of the sum.
/// @param errors  one vector per segment
/// @param pre_quantization_variance  variance of white noise before quantization [rad²]
bool is_correlated_beyond_quantization(const std::vector<Eigen::VectorXd>& errors,
                                       const std::vector<Eigen::VectorXd>& angles, double period,
                                       double quantum, double pre_quantization_variance);

/// The effect of quantization errors e of encoders on the gradient Tᵀe of the cost, where T is the
/// derivative of the whitened readings with respect to the parameters. Readings do not change
/// within one quantization step. Errors of a resting or slow joint are therefore strongly
/// correlated, and their weighted sum need not be normally distributed.
struct QuantizationErrors {
  std::vector<QuantizedSensor> sensors;
  std::vector<Eigen::MatrixXd> scatter;  ///< covariance of Tᵀe due to the errors of each sensor
  /// Contribution of each sensor and segment to `scatter`.
  std::vector<std::vector<Eigen::MatrixXd>> segment_scatter;
  /// Covariance of the approximately normally distributed part of the gradient error Tᵀe, summed
  /// over sensors: analog noise before quantization, and high harmonics of the quantization error.
  Eigen::MatrixXd normal_scatter;
  /// Random samples of the gradient error Tᵀe without this normally distributed part, summed over
  /// sensors; parameters × samples.
  Eigen::MatrixXd draws;
};

/// Computes the effect of quantization errors on the parameters. The phase of the quantization grid
/// is random. For a quantization step q, errors at two angles that differ by d then have the
/// covariance (q²/12) (1 − 6x + 6x²), where x = frac(d/q) [Wid08, ch. 5]. A Fourier series in d
/// turns the double sum over time into one sum per harmonic, so the computing time is linear in the
/// number of readings. Segments and sensors have independent phases; the random seed is fixed.
/// Errors at turning points add up or cancel, depending on the distance of these points in
/// fractions of a count. The readings determine this distance only roughly. Samples are therefore
/// drawn around perturbed motions.
/// @param problem  problem at its optimum, with a single shooting node per segment
/// @param inverse  inverse of the information matrix at the optimum; if empty, no samples are drawn
/// @param draws    number of samples. With the default, the computed 95 % quantile is the true
///                 quantile of 95 ± 0.35 %
QuantizationErrors compute_quantization_errors(const ShootingProblem& problem,
                                               const std::vector<QuantizedSensor>& sensors,
                                               const Eigen::MatrixXd& inverse = {},
                                               int draws = 4000);

/// Returns the differences between modelled angles and readings, by encoder and segment; NaN for
/// missing readings.
std::vector<std::vector<Eigen::VectorXd>> compute_reading_errors(
    const ShootingProblem& problem, const std::vector<Segment>& segments);

/// Returns the sensors whose reading errors can be quantization errors.
/// @param errors  result of `compute_reading_errors`; emptied for the returned sensors
std::vector<QuantizedSensor> find_quantized_sensors(
    const ShootingProblem& problem, const std::vector<Segment>& segments,
    std::vector<std::vector<Eigen::VectorXd>>& errors);

}  // namespace estimator
