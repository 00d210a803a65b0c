#include "estimator/doctor/edge_fit.hpp"

#include <Eigen/Cholesky>
#include <cmath>
#include <limits>

namespace estimator {

EdgeFit::EdgeFit(std::span<const double> times, std::span<const double> values, int degree,
                 double unit)
    : times_(times), values_(values), origin_(0.5 * (times.front() + times.back())), unit_(unit) {
  const int n = degree + 1;
  inverse_.setZero(n, n);
  Powers sum = Powers::Zero(n);
  coefficients_.resize(n);  // the shape that `powers` takes
  // About the first reading, so that turns that have been made cost no digits.
  for (std::size_t i = 0; i < times.size(); ++i) {
    const Powers row = powers(times[i]);
    inverse_ += row * row.transpose();
    sum += row * (values[i] - values.front());
  }
  inverse_ = inverse_.ldlt().solve(decltype(inverse_)::Identity(n, n)).eval();
  coefficients_ = inverse_ * sum;
  coefficients_[0] += values.front();
}

EdgeFit::Powers EdgeFit::powers(double time) const {
  Powers row(coefficients_.size());
  // Times run over about ±1, whatever the window's length.
  const double half = 0.5 * (times_.back() - times_.front());
  double power = 1.0;
  for (Eigen::Index i = 0; i < row.size(); ++i, power *= (time - origin_) / half) row[i] = power;
  return row;
}

double EdgeFit::value(double time) const { return coefficients_.dot(powers(time)); }

double EdgeFit::slope(double time) const {
  const double half = 0.5 * (times_.back() - times_.front());
  const Powers row = powers(time);
  double slope = 0.0;
  for (Eigen::Index i = 1; i < row.size(); ++i) {
    slope += static_cast<double>(i) * coefficients_[i] * row[i - 1] / half;
  }
  return slope;
}

Reach EdgeFit::at(double time) const {
  const Powers row = inverse_ * powers(time);
  Reach reach{.value = value(time)};
  double squares = 0.0;
  for (const double each : times_) {
    const double weight = row.dot(powers(each));
    const double distance = (each - time) / unit_;
    squares += weight * weight;
    reach.sum += std::abs(weight);
    reach.bend += 0.5 * std::abs(weight) * distance * distance;
  }
  reach.noise_gain = std::sqrt(squares);
  return reach;
}

double EdgeFit::residual_variance() const {
  double squares = 0.0;
  for (std::size_t i = 0; i < times_.size(); ++i) {
    squares += std::pow(values_[i] - value(times_[i]), 2);
  }
  const auto left_over =
      static_cast<double>(times_.size()) - static_cast<double>(coefficients_.size());
  return left_over > 0.0 ? squares / left_over : std::numeric_limits<double>::infinity();
}

}  // namespace estimator
