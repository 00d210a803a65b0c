#pragma once

namespace bench {

/// Upper bound of the speed of multiple shooting for a Furuta pendulum: equations of motion written
/// by hand, with analytic derivatives by 4 states and 10 parameters, classical Runge–Kutta, four
/// intervals in parallel, two readings per step, normal equations accumulated. Neither stick and
/// slip nor a factorization.
///
/// @return a number that depends on everything computed
double shoot_by_hand(int intervals, int steps, double step);

}  // namespace bench
