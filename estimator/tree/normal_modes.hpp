#pragma once

#include <Eigen/Core>
#include <vector>

#include "estimator/tree/statics.hpp"

namespace estimator {

/// A small motion about a configuration in balance in which all joints keep step, friction and
/// motors left out.
struct NormalMode {
  /// ω² [1/s²]: above zero it swings with ω, below it grows as exp(√−ω² t), at zero it drifts.
  double rate_squared;
  Eigen::VectorXd shape;  ///< how far each joint moves; the largest, in its scale, by 1 [rad or m]
};

/// Whether a mode is neither pulled back nor pushed away, within what is known of it: by less than
/// a millionth of the stiffest, or with a period of more than an hour and a half.
bool is_neutral(const NormalMode& mode, const std::vector<NormalMode>& all);

/// Of K x = ω² M x, slowest first; empty where some joint moves no mass.
std::vector<NormalMode> normal_modes(const Mechanism& mechanism, const Statics::Local& local);

}  // namespace estimator
