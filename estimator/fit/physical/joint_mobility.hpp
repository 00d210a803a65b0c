#pragma once

#include <Eigen/Core>
#include <limits>
#include <vector>

#include "estimator/model/mechanism.hpp"

namespace estimator {

/// Checks that every joint moves some mass.
/// @param state  joint angles over rates
/// @throws std::invalid_argument that names the joint if a joint moves no mass
void check_moved_mass(const Mechanism& mechanism, const Eigen::VectorXd& state);

/// Returns whether any joint has friction that changes steeply but continuously at zero speed.
bool has_steep_friction(const Mechanism& mechanism);

/// The longest integration steps for friction that changes steeply but continuously at zero speed.
/// Within one step, the speed of a joint then changes by a fraction of its transition velocity.
/// Infinite without such friction.
struct FrictionStepLimits {
  /// Longest step at all speeds, for friction laws that do not switch at zero speed [s].
  double everywhere = std::numeric_limits<double>::infinity();
  /// Longest step for joints almost at rest, also for smoothed Coulomb friction [s].
  double near_rest = std::numeric_limits<double>::infinity();
};

/// Computes the longest integration steps that the friction of all joints allows.
/// @param states  one matrix per segment: angles over rates, one column per state
/// @throws std::invalid_argument if a joint's friction requires too short a step
FrictionStepLimits compute_friction_step_limits(const Mechanism& mechanism,
                                                const std::vector<Eigen::MatrixXd>& states);

}  // namespace estimator
