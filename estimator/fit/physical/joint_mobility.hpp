#pragma once

#include <Eigen/Core>
#include <limits>
#include <vector>

#include "estimator/model/mechanism.hpp"

namespace estimator {

/// Checks that every joint moves some mass.
///
/// @param state  angles over rates
/// @throws std::invalid_argument naming a joint that moves no mass
void require_mass(const Mechanism& mechanism, const Eigen::VectorXd& state);

/// Whether any joint has friction that is steep but continuous at rest.
bool has_steep_friction(const Mechanism& mechanism);

/// Integration step limits due to such friction. Within a step it may change a joint's speed only
/// by a fraction of its transition velocity. Infinite without such friction.
struct FrictionSteps {
  double everywhere = std::numeric_limits<double>::infinity();  ///< for laws without a jump [s]
  double near_rest = std::numeric_limits<double>::infinity();   ///< for smoothed friction too [s]
};

/// @param states  one matrix per segment: angles over rates, one column per state
/// @throws std::invalid_argument if a joint's friction requires too short a step
FrictionSteps friction_steps(const Mechanism& mechanism,
                             const std::vector<Eigen::MatrixXd>& states);

}  // namespace estimator
