#pragma once

#include <Eigen/Core>

#include "estimator/signal/time_series.hpp"

namespace estimator {

/// The acceleration of a joint with prescribed motion, estimated from its recorded coordinate.
struct PrescribedAcceleration {
  /// One acceleration per row, constant until the next row [rad/s² or m/s²].
  Eigen::VectorXd values;
  /// Standard deviation of white errors of `values` that are equivalent to the actual errors
  /// [rad/s² or m/s²]: at frequencies at which the readings hardly determine the motion, both cause
  /// the same error of the motion.
  double noise = 0.0;
};

/// Estimates the acceleration that reproduces the recorded coordinate of a joint. The motion of the
/// joint is prescribed, and its force is unknown.
///
/// The model is a random walk of the acceleration, observed with white noise. The density of the
/// random walk maximizes the likelihood. The states come from a fixed-interval smoother [Dur12].
/// The motion from the smoothed initial state with the returned accelerations passes through the
/// smoothed coordinates exactly.
///
/// Let r be the spectral density of the reading noise, and q that of the random walk. The smoother
/// passes half of the motion at the cutoff frequency ω_c = (q/r)^⅙. Below ω_c, the acceleration has
/// an error of the density r ω⁴, which a joint estimation still determines from the readings. White
/// errors of the density r ω_c⁴ equal this error at ω_c, and are an upper bound above ω_c.
/// @param segment  its angles may be missing (NaN); its times may be irregular
/// @param sensor   column of the coordinate in Segment::angles [rad or m]
/// @return zeros if there are fewer than five readings, or all are equal
PrescribedAcceleration estimate_prescribed_acceleration(const Segment& segment,
                                                        Eigen::Index sensor);

}  // namespace estimator
