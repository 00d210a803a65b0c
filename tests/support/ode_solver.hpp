#pragma once

#include <Eigen/Core>
#include <functional>

namespace test_support {

/// Right-hand side of y' = f(y). Time enters through captured values that are constant between
/// calls of `advance`.
using OdeFunction = std::function<Eigen::VectorXd(const Eigen::VectorXd& y)>;

/// Adaptive Gragg–Bulirsch–Stoer extrapolation of order 10. It needs no table of coefficients. Its
/// error estimate samples the inside of a step, so it does not miss friction reversals there,
/// unlike Runge–Kutta–Fehlberg pairs, which compare only the ends.
class OdeSolver {
 public:
  /// @param tolerance local error allowed per step, relative to 1 + |y_i|
  explicit OdeSolver(double tolerance = 1e-12) : tolerance_(tolerance) {}

  /// y(t + duration) from y(t). @throws std::runtime_error when the motion is not finite
  Eigen::VectorXd advance(const OdeFunction& f, Eigen::VectorXd y, double duration);

  /// One step of length h without error control. Its estimated error, in units of the tolerance, is
  /// stored in `error`.
  Eigen::VectorXd step(const OdeFunction& f, const Eigen::VectorXd& y, double h,
                       double* error) const;

 private:
  double tolerance_;
  double next_step_ = 1e-3;  // [s], carried from one call to the next
};

}  // namespace test_support
