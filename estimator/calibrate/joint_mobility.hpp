#pragma once

#include <Eigen/Core>
#include <vector>

#include "estimator/model/mechanism.hpp"

namespace estimator {

/// Makes sure that every joint moves some mass.
///
/// @param state  angles over rates
/// @throws std::invalid_argument naming a joint that moves nothing there
void require_mass(const Mechanism& mechanism, const Eigen::VectorXd& state);

/// Longest integration step that follows the friction of joints that creep: it changes no joint's
/// speed by more than a part of its creep speed in a step. Infinite where no joint creeps.
///
/// @param states  one matrix a segment: angles over rates, a state a column
/// @throws std::invalid_argument where the creep speed of a joint asks for too short a step
double creep_step(const Mechanism& mechanism, const std::vector<Eigen::MatrixXd>& states);

}  // namespace estimator
