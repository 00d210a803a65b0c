#pragma once

#include <string>

#include "estimator/model/mechanism.hpp"
#include "estimator/signal/time_series.hpp"

namespace estimator {

/// A copy of a segment without the offset steps of encoders that lost counts.
Segment without_shifts(const Mechanism& mechanism, Segment segment);

/// Low-pass filter for initial states (signal/low_pass.hpp).
struct StartFilter {
  double cutoff;          ///< [Hz]
  bool to_noise = false;  ///< raise the cutoff for faster motion
};

/// Joint coordinates at nodes `step` apart, from low-passed readings [Mar, section 4.4]: nodes ×
/// joints [rad or m]. Unobserved joints are at zero.
///
/// The filtered signal provides initial values only. It is interpolated linearly to the nodes (and
/// across unobserved samples), and the encoder offsets are added.
///
/// @param step  a multiple or integer fraction of the sampling period [s]
Eigen::MatrixXd start_coordinates(const Mechanism& mechanism, const Segment& segment, double step,
                                  Eigen::Index nodes, const StartFilter& filter);

/// Initial angles and rates of all joints at every sampling period: filtered readings and their
/// central differences, in joint coordinates. 2·joints × periods, angles over rates [rad, rad/s];
/// unobserved joints are zero. Interpolated linearly between readings.
///
/// @param cutoff  of the low pass, raised for faster motion [Hz]
Eigen::MatrixXd make_joint_states(const Mechanism& mechanism, const Segment& segment,
                                  double cutoff);

}  // namespace estimator
