#pragma once

#include <Eigen/Core>
#include <functional>

namespace test_support {

/// Right-hand side f of the differential equation y' = f(y). Inputs that depend on time are
/// captured by f and must be constant during a call of `advance`.
using OdeFunction = std::function<Eigen::VectorXd(const Eigen::VectorXd& y)>;

/// Solver of ordinary differential equations by adaptive Gragg–Bulirsch–Stoer extrapolation of
/// order 10. Its error estimate samples the inside of a step and therefore detects friction
/// reversals there. Runge–Kutta–Fehlberg pairs compare only the ends of a step and can miss them.
class OdeSolver {
 public:
  /// @param tolerance local error allowed per step, relative to 1 + |y_i|
  explicit OdeSolver(double tolerance = 1e-12) : tolerance_(tolerance) {}

  /// Returns the solution y(t + duration) from y(t).
  /// @throws std::runtime_error if the motion is not finite
  Eigen::VectorXd advance(const OdeFunction& f, Eigen::VectorXd y, double duration);

  /// Returns the solution after one step of length h without error control. Stores the estimated
  /// error, in units of the tolerance, in `error`.
  Eigen::VectorXd step(const OdeFunction& f, const Eigen::VectorXd& y, double h,
                       double* error) const;

 private:
  double tolerance_;
  double next_step_ = 1e-3;  // [s], carried from one call to the next
};

}  // namespace test_support
