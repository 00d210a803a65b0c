#pragma once

#include <vector>

#include "estimator/assessment/calibration.hpp"
#include "estimator/assessment/identifiability/identifiability.hpp"

namespace estimator {

/// Returns ratios, products, sums and differences of two parameters that are known at least five
/// times more precisely than either parameter alone (relative standard deviations). The data
/// identify such parameters only in combination (base parameters). Among n parameters that trade
/// off with one another it returns the n − 1 most precise combinations, so that they are
/// independent.
/// @param parameters  in the order of `uncertainty`
std::vector<Combination> find_combinations(const std::vector<ParameterEstimate>& parameters,
                                           const Uncertainty& uncertainty);

}  // namespace estimator
