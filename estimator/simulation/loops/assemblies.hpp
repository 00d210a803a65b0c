#pragma once

#include <Eigen/Core>
#include <vector>

#include "estimator/model/mechanism.hpp"
#include "estimator/simulation/loops/loop_closure.hpp"

namespace estimator {

/// One assembly mode: joint angles at which all loops are closed.
struct Assembly {
  Eigen::VectorXd angles;
  double deviation;  ///< root mean square deviation from the desired coordinates [rad or m]
};

/// Finds assembly modes from random starts, and returns those whose deviation is close to the
/// smallest.
/// @param wanted   desired coordinate of every joint; NaN: arbitrary
/// @param nearest  result if no mode is found: angles at which the loops are nearly closed
std::vector<Assembly> find_assemblies(const Mechanism& mechanism, LoopClosure& closure,
                                      const Eigen::VectorXd& wanted, Eigen::VectorXd& nearest);

}  // namespace estimator
