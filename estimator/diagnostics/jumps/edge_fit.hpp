#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "estimator/diagnostics/jumps/reading_series.hpp"

namespace estimator {

/// The value of a fitted polynomial at a time, and bounds on its error for weights w of the
/// readings.
struct PolynomialPrediction {
  double value = 0.0;
  double noise_gain = 0.0;  ///< √Σw², noise of `value` if the reading noise is 1
  double sum = 0.0;         ///< Σ|w|, largest error of `value` if reading errors are at most 1
  /// Σ|w|τ²/2 with times τ from the evaluation, the largest error of `value` for accelerations
  /// below one per squared time unit.
  double bend = 0.0;
};

/// A least-squares polynomial through some readings, evaluated at or beside their end.
class EdgeFit {
 public:
  static constexpr int kDegreeMax = 3;

  /// Fits `count` readings from `first` on, more than `degree` of them. The time unit of
  /// PolynomialPrediction::bend is the sampling period.
  EdgeFit(const ReadingSeries& series, std::size_t first, std::size_t count, int degree);

  PolynomialPrediction at(double time) const;
  double value(double time) const;
  double slope(double time) const;
  /// Returns the residual variance; infinite without degrees of freedom.
  double residual_variance() const;

 private:
  /// Coefficients of powers of scaled time.
  using Coefficients = std::array<double, kDegreeMax + 1>;

  /// Maps the range of fitted times to −1 … 1.
  double scaled(double time) const { return (time - origin_) * scale_; }
  template <typename Function>
  void with_size(const Function& function) const;
  template <std::size_t kSize>
  void fit();
  template <std::size_t kSize>
  static double polynomial(const Coefficients& coefficients, double u);
  void invert();

  std::span<const double> times_, values_;
  std::size_t size_;  ///< number of coefficients
  double origin_, scale_, unit_;
  Coefficients coefficients_{};
  std::array<Coefficients, kDegreeMax + 1> inverse_{};  ///< inverse of the normal matrix
};

}  // namespace estimator
