#pragma once

#include <Eigen/Core>
#include <limits>
#include <vector>

#include "estimator/model/mechanism.hpp"

namespace estimator {

/// Makes sure that every joint moves some mass.
///
/// @param state  angles over rates
/// @throws std::invalid_argument naming a joint that moves nothing there
void require_mass(const Mechanism& mechanism, const Eigen::VectorXd& state);

/// Whether friction of any joint rises from rest without a jump: it creeps, or its law has none.
bool has_steep_friction(const Mechanism& mechanism);

/// Longest integration steps that follow such friction: in a step it changes the speed of no joint
/// by more than a part of that over which it rises. Infinite where no joint has any.
struct FrictionSteps {
  double everywhere = std::numeric_limits<double>::infinity();  ///< of laws without a jump [s]
  double near_rest = std::numeric_limits<double>::infinity();   ///< of joints that creep too [s]
};

/// @param states  one matrix a segment: angles over rates, a state a column
/// @throws std::invalid_argument where a joint's friction asks for too short a step
FrictionSteps friction_steps(const Mechanism& mechanism,
                             const std::vector<Eigen::MatrixXd>& states);

}  // namespace estimator
