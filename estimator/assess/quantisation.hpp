#pragma once

#include <Eigen/Core>
#include <vector>

#include "estimator/assess/counting_harmonics.hpp"
#include "estimator/fit/physical/shooting_problem.hpp"
#include "estimator/optimize/covariance.hpp"
#include "estimator/signal/time_series.hpp"

namespace estimator {

/// Smallest unit of which all readings of one sensor are whole multiples apart [rad]; 0 where there
/// is none, or where the readings differ by no more than rounding of their decimals.
/// @param scale  of the sensor's unit, JointUnits::scale
double find_quantum(const std::vector<Segment>& segments, int sensor, double scale = 1.0);

/// Variance of what is added to the angle before it is counted [rad²]; 0 where counting explains
/// the scatter from reading to reading.
double analog_variance(const std::vector<Segment>& segments, int sensor, double quantum);

/// Whether the errors of one sensor, by segment, can be those of counting: none is larger than half
/// a quantum and what the noise before counting adds, but for a small share. A joint at rest has
/// one error, however long it rests.
bool counting_explains(const std::vector<Eigen::VectorXd>& errors, double quantum, double analog);

/// Whether errors of one sensor, by segment, are correlated beyond what counting does. Products of
/// errors some hundredths of a second apart, between which the sensor moves by two quanta and more,
/// less their mean over the phase of the code disc (see `quantised_errors`), have mean zero then;
/// those within a quantum of travel are one, however long it takes, since a joint that sticks or
/// turns back repeats its error. Five deviations of the sum of what is independent.
///
/// @param angles  that the errors are of, as the model has them
/// @param analog  variance of white noise before counting [rad²]
bool correlates_in_motion(const std::vector<Eigen::VectorXd>& errors,
                          const std::vector<Eigen::VectorXd>& angles, double period, double quantum,
                          double analog);

/// What the errors e of encoders do to the gradient Tᵀe of the parameters, in whitened units. What
/// a motion of less than a count leaves equal stays equal, so errors while a hinge rests or turns
/// slowly are far from independent, and a sum of them need not be normal.
struct QuantisedErrors {
  std::vector<CountingSensor> sensors;
  std::vector<Eigen::MatrixXd> scatter;  ///< covariance of Tᵀe, one matrix a sensor
  std::vector<std::vector<Eigen::MatrixXd>> segment_scatter;  ///< of these, by sensor and segment
  /// The part of all of them that is as good as normal: noise before counting and what lies beyond
  /// the harmonics that shape the rest.
  Eigen::MatrixXd normal_scatter;
  Eigen::MatrixXd draws;  ///< parameters × draws of the sum over sensors, without the normal part
};

/// With a quantum q and a phase of the code disc that is anybody's guess, errors at angles d apart
/// have covariance (q²/12) (1 − 6x + 6x²), x = frac(d/q) [Wid08, ch. 5]. As a Fourier series in d
/// the double sum over time becomes one sum for each harmonic, so the cost stays linear. Phases of
/// segments and sensors are independent; draws are seeded alike each time. How far turning points
/// are from one another, in parts of a count, decides whether their errors add up, and readings
/// tell it only roughly: draws are about motions as far from the estimated one as such errors put
/// it.
///
/// @param problem  one node a segment, at its optimum
/// @param inverse  S⁻¹ there; empty: no draws
/// @param draws    how many; the 95 % quantile of the default is one at 95 ± 0.35 %
QuantisedErrors quantised_errors(const ShootingProblem& problem,
                                 const std::vector<CountingSensor>& sensors,
                                 const Eigen::MatrixXd& inverse = {}, int draws = 4000);

}  // namespace estimator
