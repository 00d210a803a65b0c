#pragma once

#include <Eigen/Core>

#include "estimator/signal/time_series.hpp"

namespace estimator {

/// Returns the acceleration that reproduces the recorded coordinate of a joint, whose motion is
/// prescribed and whose force is unknown. The acceleration of row k is constant until row k + 1, so
/// that it can be the control of a motor.
///
/// The model is a random walk of the acceleration, observed with white noise. Its smoothness is the
/// one of largest likelihood; the smoothed states are those of the fixed-interval smoother [Dur12].
/// The motion from the smoothed initial state with the returned accelerations passes through the
/// smoothed coordinates exactly.
/// @param segment  its angles may be missing (NaN); its times may be irregular
/// @param sensor   column of the coordinate in Segment::angles [rad or m]
/// @return one acceleration per row [rad/s² or m/s²]; zero if there are fewer than five readings,
/// or
///         all are equal
Eigen::VectorXd estimate_prescribed_acceleration(const Segment& segment, Eigen::Index sensor);

}  // namespace estimator
