#pragma once

namespace estimator {

/// Probability that a chi-square variable exceeds `value`; NaN where either argument is no number.
/// @param degrees_of_freedom  > 0, not necessarily whole
double chi_square_tail(double value, double degrees_of_freedom);

/// Half the width of a 95 % interval of Student's distribution, in standard deviations: 1.96 with
/// very many degrees of freedom, 12.7 with one.
/// @param degrees_of_freedom  1 to 1000, not necessarily whole
double student_half_width_95(double degrees_of_freedom);

}  // namespace estimator
