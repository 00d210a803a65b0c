#pragma once

#include <Eigen/Core>

#include "estimator/signal/time_series.hpp"

namespace estimator {

/// The acceleration of a joint whose motion is prescribed, estimated from its recorded coordinate.
struct PrescribedAcceleration {
  /// One acceleration per row, which is constant until the next row [rad/s² or m/s²].
  Eigen::VectorXd values;
  /// Standard deviation of white errors of the rows that cause the same errors of the motion at the
  /// frequencies that the readings hardly determine [rad/s² or m/s²].
  double noise = 0.0;
};

/// Estimates the acceleration that reproduces the recorded coordinate of a joint, whose motion is
/// prescribed and whose force is unknown.
///
/// The model is a random walk of the acceleration, observed with white noise. Its smoothness is the
/// one of largest likelihood; the smoothed states are those of the fixed-interval smoother [Dur12].
/// The motion from the smoothed initial state with the returned accelerations passes through the
/// smoothed coordinates exactly.
///
/// With readings of the spectral density r and a random walk of the density q, the smoother passes
/// half of the motion at the cutoff frequency ω_c = (q/r)^⅙. Below it, the acceleration has an
/// error of the density r ω⁴, which the readings still determine in a joint estimation. A white
/// error of the density r ω_c⁴ equals it at ω_c. Above ω_c it is an upper bound.
/// @param segment  its angles may be missing (NaN); its times may be irregular
/// @param sensor   column of the coordinate in Segment::angles [rad or m]
/// @return zeros if there are fewer than five readings, or all are equal
PrescribedAcceleration estimate_prescribed_acceleration(const Segment& segment,
                                                        Eigen::Index sensor);

}  // namespace estimator
