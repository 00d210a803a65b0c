#pragma once

#include <Eigen/Core>

#include "estimator/model/mechanism.hpp"

namespace estimator {

/// Returns the joint coordinates half a minute after release from rest without a command. Friction
/// may hold joints away from equilibrium. Without motors, returns `joints`.
///
/// @param joints  initial coordinates [rad or m]
Eigen::VectorXd settle_to_rest(const Mechanism& mechanism, const Eigen::VectorXd& joints);

/// Returns the joint coordinates at rest before a run. Joints without a given coordinate move to
/// rest from their zero, or from stable equilibrium if the zero is an upright balance.
///
/// @param placed  given coordinates, one per joint [rad or m]; NaN: not given
Eigen::VectorXd resting_start(const Mechanism& mechanism, const Eigen::VectorXd& placed);

}  // namespace estimator
