#pragma once

#include <Eigen/Core>
#include <vector>

#include "estimator/model/mechanism.hpp"

namespace estimator {

/// A joint that cannot be in static equilibrium at its recorded position.
struct NonEquilibriumJoint {
  int joint = 0;
  int sensor = 0;           ///< index of the used encoder that reads it, with the fewest others
  double coordinate = 0.0;  ///< joint coordinate by the description [rad or m]
  double load = 0.0;        ///< least load by gravity, springs and constant commands [N·m or N]
  double friction = 0.0;    ///< largest dry friction of the description [N·m or N]
  double excess = 0.0;      ///< load that nothing holds, even with ten times a free friction, > 0
  double inertia = 0.0;     ///< of the joint if all other joints are locked [kg·m² or kg], > 0
  double damping = 0.0;     ///< viscous and of back EMF, ten times if free [N·m·s/rad or N·s/m]

  /// Returns an estimate of the time in which the released joint moves by a distance [s]: the sum
  /// of the time that the inertia alone would cause and the time that the damping alone would
  /// cause.
  double departure_time(double distance) const;
};

/// Returns the joint coordinates for readings of the used encoders with the offsets of the
/// description [rad or m]; NaN for joints that the encoders do not observe.
/// @param readings  one per used encoder [rad or m]
Eigen::VectorXd joint_coordinates(const Mechanism& mechanism, const Eigen::VectorXd& readings);

/// Returns the torques that would hold the joints at rest against gravity, springs and constant
/// commands, without dry friction [N·m or N].
/// @param coordinates  one per joint; at most kTreeJointsMax joints
/// @param controls     one per motor
Eigen::VectorXd static_loads(const Mechanism& mechanism, const Eigen::VectorXd& coordinates,
                             const Eigen::VectorXd& controls);

/// Returns the joints that cannot be in static equilibrium at the recorded position. Their load
/// exceeds dry friction, or ten times its initial value if it is estimated, even if encoder zeros
/// are off by up to 0.1 rad. Skips joints at an end stop, joints with an unknown spring, joints
/// with unknown friction that starts at zero, mechanisms with loops, and mechanisms whose joint
/// coordinates the encoders do not determine.
/// @param readings  one per used encoder [rad or m]
/// @param controls  one per motor, constant
std::vector<NonEquilibriumJoint> find_non_equilibrium_joints(const Mechanism& mechanism,
                                                             const Eigen::VectorXd& readings,
                                                             const Eigen::VectorXd& controls);

}  // namespace estimator
