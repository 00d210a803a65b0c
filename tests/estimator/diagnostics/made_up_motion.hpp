#pragma once

#include <gtest/gtest.h>

#include <Eigen/Core>
#include <cmath>
#include <random>
#include <utility>
#include <vector>

#include "estimator/signal/time_series.hpp"
#include "tests/support/mechanisms/reference_rigs.hpp"

namespace test_support {

/// A swinging body with sticking friction, driven by a torque that jumps, between stops with
/// rebounds: all non-smooth features that a motion can have.
struct MadeUpMotion {
  double stiffness = 40.0;  ///< of gravity, over the inertia [1/s²]
  double viscous = 0.2;     ///< [1/s]
  double dry = 4.0;         ///< [rad/s²]
  double push = 60.0;       ///< random sign every 0.5 s, in the first half [rad/s²]
  double stop = 100.0;      ///< rebounds there at half its speed [rad]
  double start = 1.5;       ///< [rad]

  /// Returns angles sampled at `rate` [Hz], from a random seed. Semi-implicit Euler steps of at
  /// most 0.1 ms give a plausible motion, but not the exact solution.
  Eigen::VectorXd angles(double rate, int samples, unsigned seed) const {
    std::mt19937 random(seed);
    const int steps = std::max(1, static_cast<int>(std::ceil(1e4 / rate)));
    const double h = 1.0 / (rate * steps);
    const int change = static_cast<int>(0.5 / h);
    Eigen::VectorXd result(samples);
    double angle = start, speed = 0.0, torque = 0.0;
    for (long n = 0; n < static_cast<long>(samples) * steps; ++n) {
      if (n % steps == 0) result[n / steps] = angle;
      if (n % change == 0) torque = random() % 2 == 0 ? push : -push;
      if (2 * n > static_cast<long>(samples) * steps) torque = 0.0;
      const double free = torque - stiffness * std::sin(angle) - viscous * speed;
      const double next = speed + h * free;
      const double held = h * dry;
      speed = std::abs(next) <= held ? 0.0 : next - std::copysign(held, next);
      angle += h * speed;
      if (std::abs(angle) > stop && angle * speed > 0.0) speed *= -0.5;
    }
    return result;
  }
};

/// Returns angles with added noise, quantized with a random phase of the encoder disc. A quantum of
/// 0 means no quantization.
inline Eigen::VectorXd as_read(Eigen::VectorXd angles, double noise, double quantum,
                               unsigned seed) {
  std::mt19937 random(seed + 1000);
  std::normal_distribution<double> normal(0.0, 1.0);
  const double phase = std::uniform_real_distribution<double>()(random);
  for (double& angle : angles) {
    angle += noise * normal(random);
    if (quantum > 0.0) angle = quantum * std::round(angle / quantum + phase);
  }
  return angles;
}

/// Calls visit(readings, rate) for motions with impacts, torque jumps and sticking friction: clean,
/// with noise and as counts of an encoder with 4096 per turn.
template <typename Visit>
void for_each_clean_motion(const std::vector<double>& rates, const Visit& visit) {
  constexpr double kCount = 2.0 * M_PI / 4096.0;
  for (const double rate : rates) {
    for (const auto& [noise, count] : {std::pair(0.0, 0.0), {1e-3, 0.0}, {0.0, kCount}}) {
      for (unsigned seed = 0; seed < 8; ++seed) {
        SCOPED_TRACE(testing::Message()
                     << rate << " Hz, noise " << noise << ", count " << count << ", seed " << seed);
        MadeUpMotion motion;
        motion.stop = seed % 2 == 0 ? 1.0 : 100.0;
        motion.dry = seed % 3 == 0 ? 0.5 : 4.0;
        visit(as_read(motion.angles(rate, 1500, seed), noise, count, seed), rate);
      }
    }
  }
}

inline estimator::Segment segment_of(const Eigen::MatrixXd& angles, double rate) {
  return undriven(angles, 1.0 / rate);
}

}  // namespace test_support
