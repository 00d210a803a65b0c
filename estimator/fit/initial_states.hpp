#pragma once

#include <string>

#include "estimator/fit/shadow/trajectory_problem.hpp"
#include "estimator/model/mechanism.hpp"
#include "estimator/signal/time_series.hpp"

namespace estimator {

/// A segment on the grid of the time step, with start configurations [Mar, section 4.4].
///
/// Observations are the raw samples that fall on nodes, nothing else: the low-pass filtered signal
/// only starts the optimisation. It is a second-order Butterworth filter forward and backward,
/// interpolated linearly to the nodes (and across unobserved samples), offset by the encoder's
/// offset; configurations are assembled at zero constraint violation. Hinges that no reading tells
/// of start where the loops put them (close_loops), else at zero.
///
/// @param step    whole multiple or whole fraction of the sampling period [s]
/// @param cutoff  of the filter [Hz]; at 0.8 of the Nyquist frequency and above nothing is filtered
/// @param where   what the segment is of, for errors
/// @throws std::invalid_argument where loops cannot be closed, or can be in several ways
TrajectoryData make_trajectory_data(const Mechanism& mechanism, const Segment& segment, double step,
                                    double cutoff, const std::string& where);

/// Start angles and rates of all hinges at every sampling period: the filtered readings and their
/// central differences, in joint coordinates. 2·hinges × periods, angles over rates [rad, rad/s];
/// hinges that no reading tells of are zero. Between readings they are interpolated linearly.
///
/// @param cutoff  as above
Eigen::MatrixXd make_joint_states(const Mechanism& mechanism, const Segment& segment,
                                  double cutoff);

}  // namespace estimator
