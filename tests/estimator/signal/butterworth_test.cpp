#include "estimator/signal/low_pass.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <numbers>
#include <stdexcept>

namespace estimator {
namespace {

std::complex<double> response(const SectionCascade& sections, double cycles_per_sample) {
  const std::complex<double> z_inverse =
      std::polar(1.0, -2.0 * std::numbers::pi * cycles_per_sample);
  std::complex<double> gain = 1.0;
  for (const SecondOrderSection& s : sections) {
    gain *= (s.b0 + z_inverse * (s.b1 + z_inverse * s.b2)) /
            (1.0 + z_inverse * (s.a1 + z_inverse * s.a2));
  }
  return gain;
}

// The magnitude defines the filter. Catches missing prewarping, a wrong pole angle or a wrong gain
// of any section at some order and frequency. Does not test the phase.
TEST(ButterworthLowPass, HasTheMagnitudeOfItsDefinition) {
  constexpr double kPeriod = 2e-3;
  for (const double cutoff : {0.5, 10.0, 90.0, 240.0}) {
    for (int order = 1; order <= 8; ++order) {
      const SectionCascade sections = design_butterworth_low_pass(order, cutoff, kPeriod);
      for (const double frequency : {0.0, 0.3, 5.0, 10.0, 60.0, 200.0, 245.0}) {
        SCOPED_TRACE(::testing::Message() << order << " " << cutoff << " Hz, " << frequency);
        const double ratio = std::tan(std::numbers::pi * frequency * kPeriod) /
                             std::tan(std::numbers::pi * cutoff * kPeriod);
        const double expected = 1.0 / std::sqrt(1.0 + std::pow(ratio, 2 * order));
        // Round-off grows with (1/K)² per section at low cutoffs: K = 3e-3 here, 4 sections.
        EXPECT_NEAR(std::abs(response(sections, frequency * kPeriod)), expected, 1e-9);
      }
    }
  }
}

// Poles outside the unit circle have the same magnitude; only stability distinguishes them. A
// section is stable when |a2| < 1 and |a1| < 1 + a2.
TEST(ButterworthLowPass, IsStable) {
  for (int order = 1; order <= 12; ++order) {
    for (const SecondOrderSection& s : design_butterworth_low_pass(order, 10.0, 1e-3)) {
      EXPECT_LT(std::abs(s.a2), 1.0);
      EXPECT_LT(std::abs(s.a1), 1.0 + s.a2);
    }
  }
}

TEST(ButterworthLowPass, RejectsACutoffItCannotRealise) {
  EXPECT_THROW(design_butterworth_low_pass(2, 500.0, 1e-3), std::invalid_argument);
  EXPECT_THROW(design_butterworth_low_pass(2, 0.0, 1e-3), std::invalid_argument);
  EXPECT_THROW(design_butterworth_low_pass(0, 10.0, 1e-3), std::invalid_argument);
  EXPECT_THROW(design_butterworth_low_pass(2, 10.0, 0.0), std::invalid_argument);
}

}  // namespace
}  // namespace estimator
