#include "estimator/signal/butterworth.hpp"

#include <cmath>
#include <numbers>
#include <stdexcept>
#include <string>

namespace estimator {
namespace {

// Bilinear transform of 1/(s² + 2 sin(φ) s + 1) at s = (1 − z⁻¹)/(K (1 + z⁻¹)).
SecondOrderSection second_order_section(double K, double phi) {
  const double damping = 2.0 * std::sin(phi) * K;
  const double scale = 1.0 / (1.0 + damping + K * K);
  const double b0 = K * K * scale;
  return {b0, 2.0 * b0, b0, 2.0 * (K * K - 1.0) * scale, (1.0 - damping + K * K) * scale};
}

// Bilinear transform of 1/(s + 1).
SecondOrderSection first_order_section(double K) {
  const double b0 = K / (1.0 + K);
  return {b0, b0, 0.0, (K - 1.0) / (K + 1.0), 0.0};
}

}  // namespace

SectionCascade butterworth_low_pass(int order, double cutoff, double period) {
  if (order < 1) throw std::invalid_argument("Butterworth filter: the order must be at least 1");
  if (!(period > 0.0)) throw std::invalid_argument("Butterworth filter: the period must be > 0");
  if (!(cutoff > 0.0) || !(2.0 * cutoff * period < 1.0)) {
    throw std::invalid_argument("Butterworth filter: the cutoff of " + std::to_string(cutoff) +
                                " Hz must lie between zero and half the sampling rate, " +
                                std::to_string(0.5 / period) + " Hz");
  }
  const double K = std::tan(std::numbers::pi * cutoff * period);  // prewarped frequency [-]
  SectionCascade sections;
  for (int k = 0; k < order / 2; ++k) {
    // Poles at angle π/2 + φ of the left half circle; the pair with φ near zero has the highest Q.
    sections.push_back(second_order_section(K, std::numbers::pi * (2 * k + 1) / (2.0 * order)));
  }
  if (order % 2 == 1) sections.push_back(first_order_section(K));
  return sections;
}

}  // namespace estimator
