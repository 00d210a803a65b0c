#pragma once

#include <Eigen/Core>
#include <vector>

#include "estimator/model/mechanism.hpp"

namespace estimator {

/// A joint that cannot be in static equilibrium at its recorded position.
struct NonEquilibriumJoint {
  int joint = 0;
  /// The used encoder that reads this joint and as few other joints as possible.
  int sensor = 0;
  double coordinate = 0.0;  ///< joint coordinate with the described offsets [rad or m]
  double load = 0.0;        ///< smallest possible load by gravity, springs and commands [N·m or N]
  double friction = 0.0;    ///< largest dry friction of the description [N·m or N]
  double excess = 0.0;      ///< load minus dry friction; free friction counts tenfold; > 0
  double inertia = 0.0;     ///< inertia with all other joints locked [kg·m² or kg], > 0
  double damping = 0.0;     ///< viscous and back-EMF, tenfold if free [N·m·s/rad or N·s/m]

  /// Returns an estimate of the time in which the released joint moves by a distance [s]. It is the
  /// sum of the times with inertia alone and with damping alone.
  double time_to_move(double distance) const;
};

/// Returns the joint coordinates for readings of the used encoders, with the described offsets [rad
/// or m]; NaN for joints that the encoders do not observe.
/// @param readings  one per used encoder [rad or m]
Eigen::VectorXd joint_coordinates(const Mechanism& mechanism, const Eigen::VectorXd& readings);

/// Returns the torques that would hold the joints at rest against gravity, springs and constant
/// commands, without dry friction [N·m or N].
/// @param coordinates  one per joint; at most kTreeJointsMax joints
/// @param controls     one per motor
Eigen::VectorXd static_loads(const Mechanism& mechanism, const Eigen::VectorXd& coordinates,
                             const Eigen::VectorXd& controls);

/// Returns the joints that cannot be in static equilibrium at the recorded position. Their load
/// exceeds the dry friction even if encoder zeros are wrong by up to 0.1 rad. Friction that is
/// estimated counts with ten times its initial value. Skips joints at an end stop, joints with an
/// unknown spring, and joints with unknown friction and the initial value zero. Skips mechanisms
/// with loops, and mechanisms whose joint coordinates the encoders do not determine.
/// @param readings  one per used encoder [rad or m]
/// @param controls  one per motor, constant
std::vector<NonEquilibriumJoint> find_non_equilibrium_joints(const Mechanism& mechanism,
                                                             const Eigen::VectorXd& readings,
                                                             const Eigen::VectorXd& controls);

}  // namespace estimator
