#pragma once

#include <numeric>
#include <vector>

#include "estimator/model/mechanism.hpp"

namespace estimator {

/// Which joints' coordinates make up the state of a mechanism, and which of the equations that
/// close its loops give the others.
struct CoordinateChoice {
  std::vector<int> independent = {};  ///< joints, ascending
  std::vector<int> dependent = {};    ///< the other joints, ascending
  std::vector<int> rows = {};         ///< of the closures, as many as there are dependent joints
};

/// The choice for a mechanism without loops.
inline CoordinateChoice all_independent(const Mechanism& mechanism) {
  CoordinateChoice choice;
  choice.independent.resize(mechanism.hinges.size());
  std::iota(choice.independent.begin(), choice.independent.end(), 0);
  return choice;
}

}  // namespace estimator
