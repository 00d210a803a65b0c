#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "estimator/model/mechanism.hpp"
#include "estimator/optimize/least_squares_problem.hpp"

namespace estimator {

/// A function that creates a least-squares problem at the parameter values of a mechanism.
using ProblemFactory = std::function<std::unique_ptr<LeastSquaresProblem>(const Mechanism&)>;

/// Moves free parameters whose initial value is at a bound into the interior of their range, if
/// they affect the residual. The move changes the residual by a thousandth of its norm, and is at
/// most half the range.
void move_off_bounds(Mechanism& mechanism, const ProblemFactory& make_problem);

/// Returns the indices of the free parameters without any effect on the residual, such as a motor
/// gain without a control signal, or an inertia that acts only together with another body's motion.
/// @param mechanism  has the same free parameters as the problem
std::vector<int> find_parameters_without_effect(const LeastSquaresProblem& problem,
                                                const Mechanism& mechanism);

}  // namespace estimator
