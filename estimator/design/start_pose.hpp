#pragma once

#include <Eigen/Core>

#include "estimator/model/mechanism.hpp"

namespace estimator {

/// Simulates a release from rest without a command, and returns the joint coordinates half a minute
/// later. Friction may hold joints away from equilibrium. Without motors, returns `joints`.
/// @param joints  initial coordinates [rad or m]
Eigen::VectorXd settle_to_rest(const Mechanism& mechanism, const Eigen::VectorXd& joints);

/// Returns the joint coordinates at rest before a run. Joints without a given coordinate settle to
/// rest from their zero. If their zero is an upright balance, they settle from stable equilibrium.
/// @param placed  given coordinates, one per joint [rad or m]; NaN if not given
Eigen::VectorXd resting_start(const Mechanism& mechanism, const Eigen::VectorXd& placed);

}  // namespace estimator
