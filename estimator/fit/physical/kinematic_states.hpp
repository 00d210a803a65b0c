#pragma once

#include <Eigen/Core>

#include "estimator/model/mechanism.hpp"
#include "estimator/signal/time_series.hpp"

namespace estimator {

/// Angles and rates of all joints of a tree by what its encoders and inertial sensors read, masses
/// and forces left out: an extended Kalman smoother over angles, rates and accelerations that a
/// white jerk moves, linearised again about its own result. Free constants of the sensors are
/// unknown constants beside them; delays are taken as they stand.
///
/// Only a start for the joint estimation: samples are thinned, and between them lies a line.
///
/// @param states  2·joints × sampling periods, angles over rates: where to begin from, and the
///                result; unchanged where the readings do not bring the smoother to an end
void smooth_kinematics(const Mechanism& mechanism, const Segment& segment, Eigen::MatrixXd& states);

}  // namespace estimator
