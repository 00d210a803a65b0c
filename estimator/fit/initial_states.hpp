#pragma once

#include <string>

#include "estimator/model/mechanism.hpp"
#include "estimator/signal/time_series.hpp"

namespace estimator {

/// A segment whose readings are without the steps of slips.
Segment without_shifts(const Mechanism& mechanism, Segment segment);

/// Coordinates of the joints at nodes `step` apart, by the low-passed readings [Mar, section 4.4]:
/// nodes × joints [rad or m]; joints that no reading tells of are at zero.
///
/// The low-pass filtered signal only starts the optimisation. It is a second-order Butterworth
/// filter forward and backward, interpolated linearly to the nodes (and across unobserved samples),
/// offset by the encoder's offset.
///
/// @param step    whole multiple or whole fraction of the sampling period [s]
/// @param cutoff  of the filter [Hz]; at 0.8 of the Nyquist frequency and above nothing is filtered
Eigen::MatrixXd start_coordinates(const Mechanism& mechanism, const Segment& segment, double step,
                                  Eigen::Index nodes, double cutoff);

/// Start angles and rates of all hinges at every sampling period: the filtered readings and their
/// central differences, in joint coordinates. 2·hinges × periods, angles over rates [rad, rad/s];
/// hinges that no reading tells of are zero. Between readings they are interpolated linearly.
///
/// @param cutoff  as above
Eigen::MatrixXd make_joint_states(const Mechanism& mechanism, const Segment& segment,
                                  double cutoff);

}  // namespace estimator
