#pragma once

#include <Eigen/Core>
#include <vector>

#include "estimator/simulation/statics/statics.hpp"

namespace estimator {

/// A small synchronous motion of all joints about an equilibrium, without friction and motors.
struct NormalMode {
  /// ω² [1/s²]. Positive: oscillation with ω; negative: growth as exp(√−ω² t); zero: drift.
  double rate_squared;
  Eigen::VectorXd
      shape;  ///< joint displacements; the largest, in its joint's scale, is 1 [rad or m]
};

/// Returns whether a mode is neutrally stable within numerical accuracy. Its stiffness is below a
/// millionth of the largest, or its period exceeds an hour and a half.
bool is_neutral(const NormalMode& mode, const std::vector<NormalMode>& all);

/// Solves K x = ω² M x for the stiffness and mass matrices of `local`. Returns the slowest mode
/// first; no modes if some joint moves no mass.
std::vector<NormalMode> normal_modes(const Mechanism& mechanism, const Statics::Local& local);

}  // namespace estimator
