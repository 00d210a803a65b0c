#pragma once

#include <vector>

#include "estimator/assessment/calibration.hpp"
#include "estimator/assessment/identifiability/identifiability.hpp"
#include "estimator/model/mechanism.hpp"
#include "estimator/simulation/loops/base_inertial_parameters.hpp"

namespace estimator {

/// Returns ratios, products, sums and differences of two parameters that are at least five times as
/// precise, in relative terms, as either parameter. The data identify such parameters only in
/// combination. For n parameters that compensate one another, returns the n − 1 most precise
/// independent combinations.
/// @param parameters  in the order of `uncertainty`
std::vector<ParameterCombination> find_precise_combinations(
    const std::vector<ParameterEstimate>& parameters, const ParameterUncertainty& uncertainty);

/// Returns the value of a base inertial parameter and its formula, such as "A.I_zz + 0.04 B.m". The
/// standard deviation in the result is NaN.
ParameterCombination evaluate_base_parameter(const BaseInertialParameters& base,
                                             const BaseParameter& combination,
                                             const Eigen::VectorXd& standard_parameter_values);

/// Returns the base inertial parameters that involve a free parameter, with standard deviations for
/// the calibrated recordings. Empty if distances between joints are estimated, because the base
/// parameters depend on these distances. Also empty for more joints than TreeInverseDynamics
/// supports.
/// @param requested  the free parameters, in the order of `uncertainty`
std::vector<ParameterCombination> estimate_base_parameters(const Mechanism& mechanism,
                                                           const std::vector<int>& requested,
                                                           const ParameterUncertainty& uncertainty);

/// Returns whether the description has a torque of known value: a fixed, nonzero motor gain, spring
/// or constant torque. Otherwise only ratios of inertias, friction and torques are identifiable.
bool has_known_torque(const Mechanism& mechanism);

}  // namespace estimator
