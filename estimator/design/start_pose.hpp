#pragma once

#include <Eigen/Core>

#include "estimator/model/mechanism.hpp"

namespace estimator {

/// Where joints rest before a run: where they are placed, or at their zeros if that is no upright
/// balance, else at their lowest; and from there where half a minute without a command leaves them.
/// Friction may hold them anywhere near.
///
/// @param placed  one a joint [rad or m]; NaN: nothing is said
Eigen::VectorXd resting_start(const Mechanism& mechanism, const Eigen::VectorXd& placed);

}  // namespace estimator
