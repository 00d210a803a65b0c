#pragma once

#include <vector>

#include "estimator/assess/calibration.hpp"
#include "estimator/assess/identifiability.hpp"

namespace estimator {

/// Ratios, products, sums and differences of two parameters that are known, relatively, at least
/// five times better than either: what data tell that show parameters only together (base
/// parameters). Of n parameters that trade off with one another n − 1 are told, the sharpest, so
/// that none follows from the others.
///
/// @param parameters  in the order of `uncertainty`
std::vector<Combination> find_combinations(const std::vector<ParameterEstimate>& parameters,
                                           const Uncertainty& uncertainty);

}  // namespace estimator
