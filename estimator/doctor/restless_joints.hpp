#pragma once

#include <vector>

#include "estimator/model/mechanism.hpp"
#include "estimator/signal/time_series.hpp"

namespace estimator {

/// A joint that cannot stand still where its encoder says it does.
struct RestlessJoint {
  int sensor = 0;         ///< that reads it
  double reading = 0.0;   ///< [rad or m]
  double pull = 0.0;      ///< of gravity, springs and a constant command [N·m or N]
  double friction = 0.0;  ///< largest dry friction, by the rig's description [N·m or N]
};

/// The joints of a mechanism at rest that what pulls at them would move: beyond dry friction, ten
/// times that with which the description begins where it is to be estimated, wherever zeros are
/// within 0.1 rad. Nothing of what cannot be judged: joints at a stop, of unknown springs, of
/// unknown friction that begins at zero, and mechanisms with loops or joints without an encoder of
/// their own.
///
/// @param recording  whose readings and commands never change
std::vector<RestlessJoint> restless_joints(const Mechanism& mechanism, const Recording& recording);

}  // namespace estimator
