#include "tests/support/ode_solver.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>

namespace test_support {
namespace {

constexpr std::size_t kColumns = 5;
constexpr std::array<int, kColumns> kSubsteps = {2, 4, 6, 8, 10};

// Gragg's modified midpoint rule with n substeps; its error is a series in (h/n)².
Eigen::VectorXd modified_midpoint(const OdeFunction& f, const Eigen::VectorXd& y,
                                  const Eigen::VectorXd& slope, double h, int n) {
  const double substep = h / n;
  Eigen::VectorXd before = y;
  Eigen::VectorXd now = y + substep * slope;
  for (int k = 1; k < n; ++k) {
    Eigen::VectorXd after = before + 2.0 * substep * f(now);
    before = now;
    now = after;
  }
  return 0.5 * (before + now + substep * f(now));
}

}  // namespace

Eigen::VectorXd OdeSolver::step(const OdeFunction& f, const Eigen::VectorXd& y, double h,
                                double* error) const {
  const Eigen::VectorXd slope = f(y);
  // Neville's scheme: row[j] extrapolates the last j + 1 midpoint values to zero substep.
  std::array<Eigen::VectorXd, kColumns> row;
  for (std::size_t i = 0; i < kColumns; ++i) {
    Eigen::VectorXd value = modified_midpoint(f, y, slope, h, kSubsteps[i]);
    for (std::size_t j = 0; j < i; ++j) {
      const double ratio = static_cast<double>(kSubsteps[i]) / kSubsteps[i - j - 1];
      Eigen::VectorXd better = value + (value - row[j]) / (ratio * ratio - 1.0);
      row[j] = value;
      value = better;
    }
    row[i] = value;
  }
  const Eigen::ArrayXd difference = (row[kColumns - 1] - row[kColumns - 2]).array().abs();
  *error = (difference / (tolerance_ * (1.0 + y.array().abs()))).maxCoeff();
  return row[kColumns - 1];
}

Eigen::VectorXd OdeSolver::advance(const OdeFunction& f, Eigen::VectorXd y, double duration) {
  constexpr double kSmallestStep = 1e-14;  // [s]
  double remaining = duration;
  while (remaining > 0.0) {
    const bool last = next_step_ >= remaining;
    const double h = last ? remaining : next_step_;
    double error = 0.0;
    const Eigen::VectorXd next = step(f, y, h, &error);
    const double growth = 0.9 * std::pow(std::max(error, 1e-9), -1.0 / 9.0);
    if (error <= 1.0 || h < kSmallestStep) {
      y = next;
      remaining = last ? 0.0 : remaining - h;
      // A step shortened by the end of the interval does not shorten the next one.
      next_step_ = std::max(last ? next_step_ : 0.0, h * std::clamp(growth, 0.2, 4.0));
    } else {
      next_step_ = h * std::clamp(growth, 0.1, 0.9);
      if (!std::isfinite(error)) throw std::runtime_error("OdeSolver: the motion is not finite");
    }
  }
  return y;
}

}  // namespace test_support
