#pragma once

namespace bench {

/// How fast multiple shooting of a Furuta pendulum could be: equations of motion written by hand,
/// with analytic derivatives along 4 states and 10 parameters, classical Runge–Kutta, four
/// intervals side by side, two readings a step, normal equations accumulated. Neither stick and
/// slip nor a factorisation.
///
/// @return a number that depends on everything computed
double shoot_by_hand(int intervals, int steps, double step);

}  // namespace bench
