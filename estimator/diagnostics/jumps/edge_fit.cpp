#include "estimator/diagnostics/jumps/edge_fit.hpp"

#include <cmath>
#include <limits>
#include <type_traits>

namespace estimator {

EdgeFit::EdgeFit(const ReadingSeries& series, std::size_t first, std::size_t count, int degree)
    : times_(series.times.data() + first, count),
      values_(series.values.data() + first, count),
      size_(static_cast<std::size_t>(degree) + 1),
      origin_(0.5 * (times_.front() + times_.back())),
      scale_(2.0 / (times_.back() - times_.front())),
      unit_(series.period) {
  with_size([this](auto size) { fit<size>(); });
}

/// Calls a function with the number of coefficients as a compile-time constant, so that sums over
/// readings stay in registers.
template <typename Function>
void EdgeFit::with_size(const Function& function) const {
  switch (size_) {
    case 1:
      return function(std::integral_constant<std::size_t, 1>());
    case 2:
      return function(std::integral_constant<std::size_t, 2>());
    case 3:
      return function(std::integral_constant<std::size_t, 3>());
    default:
      return function(std::integral_constant<std::size_t, kDegreeMax + 1>());
  }
}

template <std::size_t kSize>
void EdgeFit::fit() {
  // Moments of time, and of time and readings. Readings are relative to the first one, so that
  // accumulated turns cost no precision.
  std::array<double, 2 * kSize - 1> moments{};
  std::array<double, kSize> sums{};
  for (std::size_t i = 0; i < times_.size(); ++i) {
    const double u = scaled(times_[i]), value = values_[i] - values_.front();
    double power = 1.0;
    for (std::size_t k = 0; k < 2 * kSize - 1; ++k, power *= u) {
      moments[k] += power;
      if (k < kSize) sums[k] += power * value;
    }
  }
  for (std::size_t i = 0; i < kSize; ++i) {
    for (std::size_t j = 0; j < kSize; ++j) inverse_[i][j] = moments[i + j];
  }
  invert();
  for (std::size_t i = 0; i < kSize; ++i) {
    for (std::size_t j = 0; j < kSize; ++j) coefficients_[i] += inverse_[i][j] * sums[j];
  }
  coefficients_[0] += values_.front();
}

/// Inverts the normal matrix, which is positive definite, by Gauss–Jordan without pivoting.
void EdgeFit::invert() {
  for (std::size_t k = 0; k < size_; ++k) {
    const double pivot = 1.0 / inverse_[k][k];
    inverse_[k][k] = 1.0;
    for (std::size_t j = 0; j < size_; ++j) inverse_[k][j] *= pivot;
    for (std::size_t i = 0; i < size_; ++i) {
      if (i == k) continue;
      const double factor = inverse_[i][k];
      inverse_[i][k] = 0.0;
      for (std::size_t j = 0; j < size_; ++j) inverse_[i][j] -= factor * inverse_[k][j];
    }
  }
}

template <std::size_t kSize>
double EdgeFit::polynomial(const Coefficients& coefficients, double u) {
  double value = 0.0;
  for (std::size_t i = kSize; i-- > 0;) value = value * u + coefficients[i];
  return value;
}

double EdgeFit::value(double time) const {
  double value = 0.0;
  with_size([&](auto size) { value = polynomial<size>(coefficients_, scaled(time)); });
  return value;
}

double EdgeFit::slope(double time) const {
  const double u = scaled(time);
  double slope = 0.0, power = scale_;
  for (std::size_t i = 1; i < size_; ++i, power *= u)
    slope += static_cast<double>(i) * coefficients_[i] * power;
  return slope;
}

PolynomialPrediction EdgeFit::at(double time) const {
  // A reading's weight is a polynomial of its time.
  Coefficients weights{};
  double power = 1.0;
  for (std::size_t j = 0; j < size_; ++j, power *= scaled(time)) {
    for (std::size_t i = 0; i < size_; ++i) weights[i] += inverse_[i][j] * power;
  }
  PolynomialPrediction reach{.value = value(time)};
  double squares = 0.0;
  with_size([&](auto size) {
    for (const double each : times_) {
      const double weight = polynomial<size>(weights, scaled(each));
      const double distance = (each - time) / unit_;
      squares += weight * weight;
      reach.sum += std::abs(weight);
      reach.bend += 0.5 * std::abs(weight) * distance * distance;
    }
  });
  reach.noise_gain = std::sqrt(squares);
  return reach;
}

double EdgeFit::residual_variance() const {
  double squares = 0.0;
  with_size([&](auto size) {
    for (std::size_t i = 0; i < times_.size(); ++i) {
      const double left = values_[i] - polynomial<size>(coefficients_, scaled(times_[i]));
      squares += left * left;
    }
  });
  const double left_over = static_cast<double>(times_.size()) - static_cast<double>(size_);
  return left_over > 0.0 ? squares / left_over : std::numeric_limits<double>::infinity();
}

}  // namespace estimator
