#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "estimator/model/mechanism.hpp"
#include "estimator/optimize/least_squares_problem.hpp"

namespace estimator {

/// Creates the problem at a mechanism's parameter values.
using ProblemFactory = std::function<std::unique_ptr<LeastSquaresProblem>(const Mechanism&)>;

/// Moves free parameters that start at a bound into the interior, where they have an effect. The
/// distance changes the residual by a thousandth of its norm, at most half the box.
void move_off_bounds(Mechanism& mechanism, const ProblemFactory& make_problem);

/// Returns indices of free parameters without any effect on the residual: a motor gain without a
/// control signal, an inertia that acts only together with another body's motion, …
///
/// @param mechanism  its free parameters are the problem's
std::vector<int> find_parameters_without_effect(const LeastSquaresProblem& problem,
                                                const Mechanism& mechanism);

}  // namespace estimator
