#pragma once

#include <vector>

namespace estimator {

/// One section of a digital filter, normalized to a0 = 1:
///
///   y_k = b0 x_k + b1 x_{k−1} + b2 x_{k−2} − a1 y_{k−1} − a2 y_{k−2}.
///
/// A first-order section has b2 = a2 = 0.
struct SecondOrderSection {
  double b0;
  double b1;
  double b2;
  double a1;
  double a2;
};

/// Cascade of sections, applied in order.
using SectionCascade = std::vector<SecondOrderSection>;

/// Designs a digital Butterworth low-pass filter: bilinear transform of the analogue prototype,
/// prewarped so that the gain at `cutoff` is exactly 1/√2. Every section has gain 1 at zero
/// frequency. With the frequency f and the period T, the magnitude is
///
///   |H(f)|² = 1 / (1 + (tan(π f T) / tan(π cutoff T))^(2 order)).
///
/// ⌈order/2⌉ sections; for an odd order the last one is of first order.
///
/// @param order  number of poles, ≥ 1
/// @param cutoff frequency of half power [Hz], 0 < cutoff < 1/(2 period)
/// @param period sampling period [s], > 0
/// @throws std::invalid_argument when a value is out of range
SectionCascade butterworth_low_pass(int order, double cutoff, double period);

}  // namespace estimator
