#pragma once

#include <string>
#include <vector>

#include "estimator/assess/calibration.hpp"
#include "estimator/assess/identifiability.hpp"
#include "estimator/model/mechanism.hpp"
#include "estimator/simulation/base_inertial_parameters.hpp"

namespace estimator {

/// Formats a combination, "A.I_zz + 0.04 B.m", and evaluates it. Its standard deviation is NaN.
Combination evaluate(const BaseInertialParameters& base, const BaseCombination& combination,
                     const Eigen::VectorXd& standard_values);

/// Returns the base parameters that involve a free parameter, with standard deviations for these
/// recordings. Empty if distances between joints are estimated, because the combinations depend on
/// them, or if there are more joints than TreeInverseDynamics supports.
///
/// @param asked  the free parameters, in the order of the uncertainty
std::vector<Combination> estimate_base(const Mechanism& mechanism,
                                       const std::vector<int>& requested,
                                       const Uncertainty& uncertainty);

/// Returns whether a torque has a known value: a fixed, nonzero motor gain, spring or constant
/// torque. Otherwise only ratios of inertias, friction and torques are identifiable.
bool is_torque_known(const Mechanism& mechanism);

}  // namespace estimator
