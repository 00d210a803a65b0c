#pragma once

#include <Eigen/Core>
#include <vector>

#include "estimator/simulation/statics.hpp"

namespace estimator {

/// A small synchronous motion of all joints about an equilibrium, without friction and motors.
struct NormalMode {
  /// ω² [1/s²]. Positive: oscillation with ω; negative: growth as exp(√−ω² t); zero: drift.
  double rate_squared;
  Eigen::VectorXd shape;  ///< displacements; the largest, in its joint's scale, is 1 [rad or m]
};

/// Whether a mode is neutrally stable within its accuracy: its stiffness is below a millionth of
/// the stiffest, or its period exceeds an hour and a half.
bool is_neutral(const NormalMode& mode, const std::vector<NormalMode>& all);

/// Solves K x = ω² M x, slowest mode first; empty if some joint moves no mass.
std::vector<NormalMode> normal_modes(const Mechanism& mechanism, const Statics::Local& local);

}  // namespace estimator
