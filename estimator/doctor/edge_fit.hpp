#pragma once

#include <array>
#include <cstddef>
#include <span>

namespace estimator {

/// What a polynomial says at a time, and how wrong that may be.
struct Reach {
  double value = 0.0;
  double noise_gain = 0.0;  ///< √Σw²: deviation of `value` by readings' noise of deviation 1
  double sum = 0.0;         ///< Σ|w|: by how much readings' errors of up to 1 can move it
  /// Σ|w|τ²/2: by how much a motion whose acceleration stays below one a squared unit of time can
  /// leave it, whatever it does and when.
  double bend = 0.0;
};

/// A polynomial fitted to some readings by least squares, to be read at or beside their end.
class EdgeFit {
 public:
  static constexpr int kDegreeMax = 3;

  /// @param times   more than `degree`, rising [s]
  /// @param unit    of time for Reach::bend, about the distance of readings [s]
  EdgeFit(std::span<const double> times, std::span<const double> values, int degree, double unit);

  Reach at(double time) const;
  double value(double time) const;
  double slope(double time) const;
  /// Of the readings from the polynomial; infinite where none is left over.
  double residual_variance() const;

 private:
  using Coefficients = std::array<double, kDegreeMax + 1>;  ///< of powers of scaled times

  /// Times run over ±1, whatever the window's length.
  double scaled(double time) const { return (time - origin_) * scale_; }
  template <typename Function>
  void with_size(const Function& function) const;
  template <std::size_t kSize>
  void fit();
  template <std::size_t kSize>
  static double polynomial(const Coefficients& coefficients, double u);
  void invert();

  std::span<const double> times_, values_;
  std::size_t size_;  ///< of the polynomial
  double origin_, scale_, unit_;
  Coefficients coefficients_{};
  std::array<Coefficients, kDegreeMax + 1> inverse_{};  ///< of the normal equations
};

}  // namespace estimator
