#pragma once

#include <string>

#include "estimator/model/mechanism.hpp"
#include "estimator/signal/time_series.hpp"

namespace estimator {

/// A segment whose readings are without the steps of slips.
Segment without_shifts(const Mechanism& mechanism, Segment segment);

/// What starts are low-passed by (signal/low_pass.hpp).
struct StartFilter {
  double cutoff;          ///< [Hz]
  bool to_noise = false;  ///< raised where readings move faster
};

/// Coordinates of the joints at nodes `step` apart, by the low-passed readings [Mar, section 4.4]:
/// nodes × joints [rad or m]; joints that no reading tells of are at zero.
///
/// The low-pass filtered signal only starts the optimisation. It is interpolated linearly to the
/// nodes (and across unobserved samples), and offset by the encoder's offset.
///
/// @param step  whole multiple or whole fraction of the sampling period [s]
Eigen::MatrixXd start_coordinates(const Mechanism& mechanism, const Segment& segment, double step,
                                  Eigen::Index nodes, const StartFilter& filter);

/// Start angles and rates of all hinges at every sampling period: the filtered readings and their
/// central differences, in joint coordinates. 2·hinges × periods, angles over rates [rad, rad/s];
/// hinges that no reading tells of are zero. Between readings they are interpolated linearly.
///
/// @param cutoff  of the low pass, raised where readings move faster [Hz]
Eigen::MatrixXd make_joint_states(const Mechanism& mechanism, const Segment& segment,
                                  double cutoff);

}  // namespace estimator
