#pragma once

#include <string>

#include "estimator/model/mechanism.hpp"
#include "estimator/signal/time_series.hpp"

namespace estimator {

/// Returns a copy of a segment without the offset steps that lost counts of encoders cause.
Segment without_shifts(const Mechanism& mechanism, Segment segment);

/// Settings of the low-pass filter for initial states (signal/low_pass.hpp).
struct StartFilter {
  double cutoff;          ///< cutoff frequency [Hz]
  bool to_noise = false;  ///< whether to raise the cutoff for fast motion
};

/// Returns initial joint coordinates at times 0, step, 2 step, …, from low-pass filtered readings
/// [Mar, section 4.4]: nodes × joints [rad or m]. Unobserved joints are zero.
///
/// The filtered readings are interpolated linearly to the nodes, also across missing samples, and
/// the encoder offsets are added. The result is only accurate enough for initial values.
///
/// @param step  a multiple or integer fraction of the sampling period [s]
Eigen::MatrixXd start_coordinates(const Mechanism& mechanism, const Segment& segment, double step,
                                  Eigen::Index nodes, const StartFilter& filter);

/// Returns initial angles and rates of all joints at every sampling period: 2·joints × periods,
/// angles over rates [rad, rad/s]. Angles are filtered readings in joint coordinates, interpolated
/// linearly across missing samples; rates are their central differences. Unobserved joints are
/// zero.
///
/// @param cutoff  cutoff of the low-pass filter, raised for faster motion [Hz]
Eigen::MatrixXd make_joint_states(const Mechanism& mechanism, const Segment& segment,
                                  double cutoff);

}  // namespace estimator
