#include "estimator/signal/low_pass.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <numbers>
#include <stdexcept>
#include <vector>

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

// Coefficients of the product of the sections' numerators or denominators.
std::vector<double> multiply(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> product(a.size() + b.size() - 1, 0.0);
  for (std::size_t i = 0; i < a.size(); ++i) {
    for (std::size_t j = 0; j < b.size(); ++j) product[i + j] += a[i] * b[j];
  }
  return product;
}

// The magnitude defines the filter. Catches missing prewarping, a wrong pole angle or a wrong gain
// of any section at some order and frequency. Does not test the phase.
TEST(ButterworthLowPass, HasTheMagnitudeOfItsDefinition) {
  constexpr double kPeriod = 2e-3;
  for (const double cutoff : {0.5, 10.0, 90.0, 240.0}) {
    for (int order = 1; order <= 8; ++order) {
      const SectionCascade sections = butterworth_low_pass(order, cutoff, kPeriod);
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
    for (const SecondOrderSection& s : butterworth_low_pass(order, 10.0, 1e-3)) {
      EXPECT_LT(std::abs(s.a2), 1.0);
      EXPECT_LT(std::abs(s.a1), 1.0 + s.a2);
    }
  }
}

// Independent numbers: python3 -c "from scipy.signal import butter; print(butter(n, 2*fc/fs))"
// (SciPy 1.10.1).
TEST(ButterworthLowPass, AgreesWithSciPy) {
  struct Golden {
    int order;
    double cutoff, rate;
    std::vector<double> b, a;
  };
  const Golden goldens[] = {
      {1, 10, 1000, {0.03046874709125383, 0.03046874709125383}, {1.0, -0.9390625058174923}},
      {2,
       10,
       1000,
       {0.0009446918438401507, 0.0018893836876803015, 0.0009446918438401507},
       {1.0, -1.911197067426073, 0.9149758348014336}},
      {3,
       50,
       500,
       {0.018098933007514435, 0.05429679902254331, 0.05429679902254331, 0.018098933007514435},
       {1.0, -1.7600418803431688, 1.1828932620378303, -0.2780599176345463}},
      {4,
       120,
       500,
       {0.08267262046299349, 0.33069048185197397, 0.49603572277796093, 0.33069048185197397,
        0.08267262046299349},
       {1.0, -0.1562105841382843, 0.4937426525743566, -0.03290721805862755, 0.018137077030450748}}};
  for (const Golden& golden : goldens) {
    SCOPED_TRACE(golden.order);
    std::vector<double> b = {1.0}, a = {1.0};
    for (const SecondOrderSection& s :
         butterworth_low_pass(golden.order, golden.cutoff, 1.0 / golden.rate)) {
      b = multiply(b, {s.b0, s.b1, s.b2});
      a = multiply(a, {1.0, s.a1, s.a2});
    }
    for (std::size_t i = 0; i < golden.b.size(); ++i) {
      EXPECT_NEAR(b[i], golden.b[i], 1e-13);
      EXPECT_NEAR(a[i], golden.a[i], 1e-13);
    }
  }
}

TEST(ButterworthLowPass, RejectsACutoffItCannotRealise) {
  EXPECT_THROW(butterworth_low_pass(2, 500.0, 1e-3), std::invalid_argument);
  EXPECT_THROW(butterworth_low_pass(2, 0.0, 1e-3), std::invalid_argument);
  EXPECT_THROW(butterworth_low_pass(0, 10.0, 1e-3), std::invalid_argument);
  EXPECT_THROW(butterworth_low_pass(2, 10.0, 0.0), std::invalid_argument);
}

}  // namespace
}  // namespace estimator
