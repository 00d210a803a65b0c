#pragma once

#include <Eigen/Core>

#include "estimator/model/mechanism.hpp"
#include "estimator/signal/time_series.hpp"

namespace estimator {

/// Estimates angles and rates of all joints of a tree from encoders and inertial sensors, without
/// masses and forces: an extended Kalman smoother over angles, rates and accelerations with white
/// jerk, relinearized about its own result. Free constants of the sensors are additional constant
/// unknowns; delays are fixed.
///
/// The result only initializes the joint estimation: samples are thinned and interpolated linearly.
///
/// @param states  2·joints × sampling periods, angles over rates: initial values, and the result;
/// unchanged if the smoother fails
void smooth_kinematics(const Mechanism& mechanism, const Segment& segment, Eigen::MatrixXd& states);

}  // namespace estimator
