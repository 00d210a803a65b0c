#pragma once

#include <Eigen/Core>
#include <vector>

#include "estimator/model/mechanism.hpp"
#include "estimator/tree/loop_closure.hpp"

namespace estimator {

/// One way in which the loops close.
struct Assembly {
  Eigen::VectorXd angles;
  double misfit;  ///< of the joints that something was wanted of, root mean square [rad or m]
};

/// All ways to close the loops that are found from random starts, and come as near to what is
/// wanted as the best of them.
/// @param wanted   of every joint; NaN: nothing is wanted of it
/// @param nearest  where none was found: angles at which the loops are nearly closed
std::vector<Assembly> find_assemblies(const Mechanism& mechanism, LoopClosure& closure,
                                      const Eigen::VectorXd& wanted, Eigen::VectorXd& nearest);

}  // namespace estimator
