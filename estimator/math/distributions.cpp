#include "estimator/math/distributions.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace estimator {
namespace {

constexpr int kTermsMax = 10000;
constexpr double kLeast = 1e-300;     // avoids divisions by zero in Lentz's method
constexpr double kTermShare = 1e-15;  // of the sum: terms below are neglected

/// Lower regularized incomplete gamma function by its power series [Pre07, eq. 6.2.5].
double gamma_series(double a, double x) {
  double term = 1.0 / a, sum = term;
  for (int n = 1; n < kTermsMax && term > kTermShare * sum; ++n) {
    term *= x / (a + n);
    sum += term;
  }
  return sum * std::exp(a * std::log(x) - x - std::lgamma(a));
}

/// Upper regularized incomplete gamma function by its continued fraction [Pre07, eq. 6.2.7].
double gamma_fraction(double a, double x) {
  double b = x + 1.0 - a, c = 1.0 / kLeast, d = 1.0 / b, product = d;
  for (int n = 1; n < kTermsMax; ++n) {
    const double numerator = -n * (n - a);
    b += 2.0;
    d = 1.0 / (numerator * d + b);
    c = b + numerator / c;
    product *= d * c;
    if (std::abs(d * c - 1.0) < kTermShare) break;
  }
  return product * std::exp(a * std::log(x) - x - std::lgamma(a));
}

/// Probability that |t| exceeds `value`, by Simpson's rule over the angle φ with t = √ν tan φ. The
/// density is then proportional to cos^(ν−1) φ, which is smooth for ν ≥ 1.
double student_two_sided_tail(double value, double nu) {
  constexpr int kPanels = 2000;
  const auto integral = [&](double from, double to) {
    const double h = (to - from) / kPanels;
    double sum = 0.0;
    for (int k = 0; k <= kPanels; ++k) {
      const double weight = k == 0 || k == kPanels ? 1.0 : (k % 2 == 1 ? 4.0 : 2.0);
      sum += weight * std::pow(std::max(std::cos(from + k * h), 0.0), nu - 1.0);
    }
    return sum * h / 3.0;
  };
  const double at = std::atan(value / std::sqrt(nu));
  return integral(at, M_PI_2) / integral(0.0, M_PI_2);
}

}  // namespace

double chi_square_tail_probability(double value, double degrees_of_freedom) {
  if (!(degrees_of_freedom > 0.0) || std::isnan(value)) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  if (value <= 0.0) return 1.0;
  const double a = 0.5 * degrees_of_freedom, x = 0.5 * value;
  return x < a + 1.0 ? 1.0 - gamma_series(a, x) : gamma_fraction(a, x);
}

double student_t_half_width_95(double degrees_of_freedom) {
  double low = 1.9, high = 20.0;  // for one degree of freedom and more
  for (int k = 0; k < 50; ++k) {
    const double middle = 0.5 * (low + high);
    (student_two_sided_tail(middle, degrees_of_freedom) > 0.05 ? low : high) = middle;
  }
  return 0.5 * (low + high);
}

double standard_normal_probability(double value) {
  return 0.5 * std::erfc(-value / std::sqrt(2.0));
}

double standard_normal_quantile(double probability) {
  double low = -38.0, high = 38.0;  // the probability beyond is 0 or 1 in double precision
  for (int k = 0; k < 60; ++k) {
    const double middle = 0.5 * (low + high);
    (standard_normal_probability(middle) < probability ? low : high) = middle;
  }
  return 0.5 * (low + high);
}

}  // namespace estimator
