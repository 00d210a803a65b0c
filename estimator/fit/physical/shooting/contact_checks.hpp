#pragma once

#include <Eigen/Core>
#include <string>

#include "estimator/model/mechanism.hpp"
#include "estimator/signal/time_series.hpp"

namespace estimator {

/// Checks that the contacts with the ground in a segment are possible: they leave the mechanism at
/// least one degree of freedom, and their points hardly move according to the encoders. The second
/// check needs encoders on all joints.
/// @param states     angles over rates of all joints, one column per sampling period
/// @param recording  name of the recording, for messages
/// @throws std::invalid_argument otherwise, with the contact and the time
void check_contacts(const Mechanism& mechanism, const Segment& segment,
                    const Eigen::MatrixXd& states, const std::string& recording);

}  // namespace estimator
