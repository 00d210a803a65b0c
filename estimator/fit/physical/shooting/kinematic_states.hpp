#pragma once

#include <Eigen/Core>

#include "estimator/model/mechanism.hpp"
#include "estimator/signal/time_series.hpp"

namespace estimator {

/// Estimates angles and rates of all joints of a tree from encoders and inertial sensors. The
/// estimation uses no masses and forces. An extended Kalman smoother estimates angles, rates and
/// accelerations, with white noise as third derivative of the angles. Free parameters of the
/// sensors are additional unknowns, except for delays.
///
/// The result only initializes the main estimation: samples are thinned and interpolated linearly.
/// @param states  2·joints × sampling periods, angles over rates: initial values, replaced by the
/// result; unchanged if the smoother fails
void smooth_kinematics(const Mechanism& mechanism, const Segment& segment, Eigen::MatrixXd& states);

}  // namespace estimator
