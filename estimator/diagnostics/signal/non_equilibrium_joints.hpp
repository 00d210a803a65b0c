#pragma once

#include <vector>

#include "estimator/model/mechanism.hpp"
#include "estimator/signal/time_series.hpp"

namespace estimator {

/// A joint that cannot be in static equilibrium at its recorded position.
struct NonEquilibriumJoint {
  int sensor = 0;         ///< index of the sensor that measures the joint
  double reading = 0.0;   ///< recorded position [rad or m]
  double load = 0.0;      ///< load by gravity, springs and a constant command [N·m or N]
  double friction = 0.0;  ///< largest dry friction of the description [N·m or N]
};

/// Returns the joints that cannot be in static equilibrium at the recorded position. Their load
/// exceeds dry friction, or ten times its initial value if it is estimated, even if encoder zeros
/// are off by up to 0.1 rad. Skips joints at an end stop, joints with an unknown spring, joints
/// with unknown friction that starts at zero, mechanisms with loops, and mechanisms with joints
/// without their own encoder.
/// @param recording  a recording with constant readings and commands
std::vector<NonEquilibriumJoint> find_non_equilibrium_joints(const Mechanism& mechanism,
                                                             const Recording& recording);

}  // namespace estimator
