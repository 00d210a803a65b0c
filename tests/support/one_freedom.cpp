#include "tests/support/one_freedom.hpp"

#include <cmath>

namespace test_support {
namespace {

constexpr double kReach = 2e-3;

/// Returns the derivative of f at s by central differences of sixth order.
template <typename F>
auto derivative(const F& f, double s) {
  const double h = kReach;
  using Value = decltype(f(s));
  const Value first = f(s + h) - f(s - h), second = f(s + 2.0 * h) - f(s - 2.0 * h),
              third = f(s + 3.0 * h) - f(s - 3.0 * h);
  return Value((45.0 * first - 9.0 * second + third) / (60.0 * h));
}

}  // namespace

double OneFreedom::effective_mass(double s) const {
  double sum = 0.0;
  for (std::size_t i = 0; i < mass.size(); ++i) {
    const Eigen::Vector3d speed =
        derivative([&](double at) { return Eigen::Vector3d(pose(at).centers[i]); }, s);
    const Eigen::Matrix3d turn =
        derivative([&](double at) { return Eigen::Matrix3d(pose(at).rotations[i]); }, s);
    const Eigen::Matrix3d skew = pose(s).rotations[i].transpose() * turn;  // of ω, body frame
    const Eigen::Vector3d omega(skew(2, 1), skew(0, 2), skew(1, 0));
    sum += mass[i] * speed.squaredNorm() + omega.dot(inertia[i] * omega);
  }
  return sum;
}

double OneFreedom::potential(double s) const {
  const FreedomPose at = pose(s);
  double sum = 0.0;
  for (std::size_t i = 0; i < mass.size(); ++i) sum += mass[i] * gravity * at.centers[i].y();
  return sum;
}

Eigen::VectorXd OneFreedom::joint_rates(double s) const {
  return derivative(
      [&](double at) {
        const FreedomPose here = pose(at);
        return Eigen::VectorXd(Eigen::Map<const Eigen::VectorXd>(
            here.joints.data(), static_cast<Eigen::Index>(here.joints.size())));
      },
      s);
}

Eigen::Vector2d OneFreedom::move(const Eigen::Vector2d& start, double duration, int steps) const {
  const auto slope = [&](const Eigen::Vector2d& x) {
    const double m = effective_mass(x[0]);
    const double change = derivative([&](double at) { return effective_mass(at); }, x[0]);
    double force = -derivative([&](double at) { return potential(at); }, x[0]);
    const Eigen::VectorXd rates = joint_rates(x[0]);
    for (Eigen::Index j = 0; j < rates.size(); ++j) {
      const auto at = static_cast<std::size_t>(j);
      const double rate = rates[j] * x[1];
      const double dry = rate == 0.0 ? 0.0 : std::copysign(coulomb[at], rate);
      force -= rates[j] * (viscous[at] * rate + dry);
    }
    return Eigen::Vector2d(x[1], (force - 0.5 * change * x[1] * x[1]) / m);
  };
  const double h = duration / steps;
  Eigen::Vector2d x = start;
  for (int step = 0; step < steps; ++step) {
    const Eigen::Vector2d a = slope(x), b = slope(x + 0.5 * h * a), c = slope(x + 0.5 * h * b),
                          d = slope(x + h * c);
    x += h / 6.0 * (a + 2.0 * (b + c) + d);
  }
  return x;
}

}  // namespace test_support
