#pragma once

#include <vector>

#include "estimator/model/mechanism.hpp"
#include "estimator/signal/time_series.hpp"

namespace estimator {

/// A joint that cannot be in static equilibrium at its reading.
struct NonEquilibriumJoint {
  int sensor = 0;         ///< that measures it
  double reading = 0.0;   ///< [rad or m]
  double load = 0.0;      ///< load by gravity, springs and a constant command [N·m or N]
  double friction = 0.0;  ///< largest dry friction of the description [N·m or N]
};

/// Returns the joints that cannot be in static equilibrium at the recorded position. The load must
/// exceed dry friction, or ten times its initial value if it is estimated, for all encoder zeros
/// within 0.1 rad. Skips joints at an end stop, joints with an unknown spring, joints with unknown
/// friction that starts at zero, mechanisms with loops, and mechanisms with joints without their
/// own encoder.
///
/// @param recording  whose readings and commands never change
std::vector<NonEquilibriumJoint> find_non_equilibrium_joints(const Mechanism& mechanism,
                                                             const Recording& recording);

}  // namespace estimator
