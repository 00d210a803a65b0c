#pragma once

#include <string>
#include <vector>

#include "estimator/assess/calibration.hpp"
#include "estimator/assess/identifiability.hpp"
#include "estimator/model/mechanism.hpp"
#include "estimator/tree/inertial_base.hpp"

namespace estimator {

/// "A.I_zz + 0.04 B.m", and its value and unit at the mechanism's; its deviation is NaN.
Combination evaluate(const InertialBase& base, const BaseCombination& combination,
                     const Eigen::VectorXd& standard_values);

/// Base parameters that the free ones have a part in, with deviations: what these recordings saw of
/// them. None where lengths between joints are estimated, which the combinations depend on, or with
/// more joints than TreeInverseDynamics takes.
///
/// @param asked  parameters of the uncertainty
std::vector<Combination> estimate_base(const Mechanism& mechanism, const std::vector<int>& asked,
                                       const Uncertainty& uncertainty);

/// Whether a torque is known as such: a motor's gain, a spring or a constant torque is held at
/// something. Else motion sees inertias, friction and torques in proportion only.
bool is_torque_known(const Mechanism& mechanism);

}  // namespace estimator
