#pragma once

namespace estimator {

/// Returns the probability that a chi-square variable exceeds `value`; NaN if an argument is NaN.
/// @param degrees_of_freedom  > 0, not necessarily an integer
double chi_square_tail_probability(double value, double degrees_of_freedom);

/// Returns the half-width of a 95 % interval of Student's t distribution, in standard deviations:
/// 1.96 for very many degrees of freedom, 12.7 for one.
/// @param degrees_of_freedom  1 to 1000, not necessarily an integer
double student_t_half_width_95(double degrees_of_freedom);

/// Returns the probability that a standard normal variable is below `value`.
double standard_normal_probability(double value);

/// Returns the quantile of the standard normal distribution for a probability.
/// @param probability  > 0 and < 1
double standard_normal_quantile(double probability);

}  // namespace estimator
