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

/// The longest integration steps that the friction of the joints allows. Integration of damping
/// (viscous friction, drag and back-EMF) is stable if a step is shorter than the time in which
/// damping stops the joint. Steep friction requires that the joint speed changes by only a fraction
/// of the transition velocity within a step. Infinite without damping and steep friction.
struct FrictionStepLimits {
  /// Longest step at all speeds, for damping and for steep friction laws that do not switch at zero
  /// speed [s].
  double everywhere = std::numeric_limits<double>::infinity();
  /// Longest step for joints almost at rest, only with steep friction; also for smoothed Coulomb
  /// friction [s].
  double near_rest = std::numeric_limits<double>::infinity();
};

/// Computes the longest integration steps that the friction of all joints allows.
/// @param states  one matrix per segment: angles over rates, one column per state
/// @throws std::invalid_argument that names the joint and its friction if the friction requires
///         steps below 20 µs
FrictionStepLimits compute_friction_step_limits(const Mechanism& mechanism,
                                                const std::vector<Eigen::MatrixXd>& states);

}  // namespace estimator
