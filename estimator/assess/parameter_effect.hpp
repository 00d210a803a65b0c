#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "estimator/model/mechanism.hpp"
#include "estimator/optimize/least_squares_problem.hpp"

namespace estimator {

/// The problem to be solved, at the parameter values of a mechanism.
using ProblemFactory = std::function<std::unique_ptr<LeastSquaresProblem>(const Mechanism&)>;

/// Moves free parameters that start at a bound inside the box, where their effect can be seen.
///
/// The distance is what changes the residual by a thousandth of its norm, at most half the box.
void move_off_bounds(Mechanism& mechanism, const ProblemFactory& make_problem);

/// Indices of free parameters without any effect on the residual: a motor's gain without a control
/// signal, a second inertia that only acts together with the first's motion, …
///
/// @param mechanism  whose free parameters are the problem's
std::vector<int> find_parameters_without_effect(const LeastSquaresProblem& problem,
                                                const Mechanism& mechanism);

}  // namespace estimator
