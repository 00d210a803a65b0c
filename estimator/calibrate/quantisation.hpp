#pragma once

#include <Eigen/Core>
#include <vector>

#include "estimator/calibrate/shooting_problem.hpp"
#include "estimator/optimize/covariance.hpp"
#include "estimator/signal/time_series.hpp"

namespace estimator {

/// Smallest unit of which all readings of one sensor are whole multiples apart [rad]; 0 where there
/// is none, or where the readings differ by no more than rounding of their decimals.
double find_quantum(const std::vector<Segment>& segments, int sensor);

/// Variance of what is added to the angle before it is counted [rad²]; 0 where counting explains
/// the scatter from reading to reading.
double analog_variance(const std::vector<Segment>& segments, int sensor, double quantum);

/// Σ_t Σ_s T_tᵀ C(t, s) T_s of the readings of one sensor whose errors C are those of an encoder:
/// what a motion of less than a count leaves equal stays equal, so errors while a hinge rests or
/// turns slowly are far from independent.
///
/// With a quantum q and a phase of the code disc that is anybody's guess, errors at angles d apart
/// have covariance (q²/12) (1 − 6x + 6x²), x = frac(d/q) [Wid08, ch. 5]. As a Fourier series in d
/// the double sum becomes one sum over time for each harmonic, so the cost stays linear.
///
/// @param problem  one node a segment, at its optimum
/// @param analog   variance of white noise before counting [rad²]
/// @return         parameters × parameters, in whitened units
Eigen::MatrixXd quantised_scatter(const ShootingProblem& problem, int sensor, double quantum,
                                  double analog);

}  // namespace estimator
