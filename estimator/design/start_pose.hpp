#pragma once

#include <Eigen/Core>

#include "estimator/model/mechanism.hpp"

namespace estimator {

/// Where joints are after half a minute without a command, let go at rest: friction may hold them
/// anywhere near.
///
/// @param joints  where they are let go [rad or m]
Eigen::VectorXd come_to_rest(const Mechanism& mechanism, const Eigen::VectorXd& joints);

/// Where joints rest before a run: where they are placed; the others come to rest from their zeros,
/// or where gravity leaves them if that is an upright balance.
///
/// @param placed  one a joint [rad or m]; NaN: nothing is said
Eigen::VectorXd resting_start(const Mechanism& mechanism, const Eigen::VectorXd& placed);

}  // namespace estimator
