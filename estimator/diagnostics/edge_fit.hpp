#pragma once

#include <array>
#include <cstddef>
#include <span>

namespace estimator {

/// Value of a fitted polynomial at a time, and bounds of its error.
struct PolynomialPrediction {
  double value = 0.0;
  double noise_gain = 0.0;  ///< √Σw²: noise of `value` for reading noise 1
  double sum = 0.0;         ///< Σ|w|: largest error of `value` for reading errors up to 1
  /// Σ|w|τ²/2: largest error of `value` for a motion with accelerations below one per squared time
  /// unit.
  double bend = 0.0;
};

/// A least-squares polynomial through some readings, evaluated at or beside their end.
class EdgeFit {
 public:
  static constexpr int kDegreeMax = 3;

  /// @param times  more than `degree`, increasing [s]
  /// @param unit   time unit of PolynomialPrediction::bend, about the distance between readings [s]
  EdgeFit(std::span<const double> times, std::span<const double> values, int degree, double unit);

  PolynomialPrediction at(double time) const;
  double value(double time) const;
  double slope(double time) const;
  /// Residual variance; infinite without degrees of freedom.
  double residual_variance() const;

 private:
  using Coefficients = std::array<double, kDegreeMax + 1>;  ///< of powers of scaled time

  /// Maps the fitted times to ±1, whatever the window's length.
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
