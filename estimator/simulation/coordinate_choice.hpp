#pragma once

#include <numeric>
#include <vector>

#include "estimator/model/mechanism.hpp"

namespace estimator {

/// Independent joint coordinates (the state), and the loop equations that determine the others.
struct CoordinateChoice {
  std::vector<int> independent = {};  ///< joints, ascending
  std::vector<int> dependent = {};    ///< the other joints, ascending
  std::vector<int> rows = {};         ///< of the loop equations, one per dependent joint
};

/// The choice for a mechanism without loops: all joints are independent.
inline CoordinateChoice all_independent(const Mechanism& mechanism) {
  CoordinateChoice choice;
  choice.independent.resize(mechanism.joints.size());
  std::iota(choice.independent.begin(), choice.independent.end(), 0);
  return choice;
}

}  // namespace estimator
