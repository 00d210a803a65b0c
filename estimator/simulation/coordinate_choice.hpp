#pragma once

#include <numeric>
#include <vector>

#include "estimator/model/mechanism.hpp"

namespace estimator {

/// Choice of the independent joint coordinates (the state) and of the loop-closure equations that
/// determine the dependent coordinates.
struct CoordinateChoice {
  std::vector<int> independent = {};  ///< joints, ascending
  std::vector<int> dependent = {};    ///< the other joints, ascending
  std::vector<int> rows = {};  ///< indices of the loop-closure equations, one per dependent joint
};

/// Returns the choice for a mechanism without loops: all joints are independent.
inline CoordinateChoice all_independent(const Mechanism& mechanism) {
  CoordinateChoice choice;
  choice.independent.resize(mechanism.joints.size());
  std::iota(choice.independent.begin(), choice.independent.end(), 0);
  return choice;
}

}  // namespace estimator
