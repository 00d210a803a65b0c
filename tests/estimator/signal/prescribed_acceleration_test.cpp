#include "estimator/signal/prescribed_acceleration.hpp"

#include <gtest/gtest.h>

#include <Eigen/Cholesky>
#include <cmath>
#include <numbers>
#include <random>

namespace estimator {
namespace {

constexpr double kStepperPeriod = 0.005;
constexpr double kAmplitude = 0.1;                           // [m]
constexpr double kFrequency = 2.0 * std::numbers::pi * 1.5;  // [rad/s]

double position(double time) { return kAmplitude * std::sin(kFrequency * time); }

/// A coordinate with white noise, of `rows` rows.
Segment record(int rows, double noise) {
  Segment segment;
  segment.period = kStepperPeriod;
  segment.angles.resize(rows, 1);
  std::mt19937 random(1);
  std::normal_distribution<double> normal(0.0, noise);
  for (int k = 0; k < rows; ++k)
    segment.angles(k, 0) = position(k * kStepperPeriod) + normal(random);
  return segment;
}

/// Largest error of an acceleration against the mean acceleration of its interval, without the
/// first and last 20 rows, as a fraction of the amplitude of the acceleration.
double largest_error(const Segment& segment) {
  const Eigen::VectorXd acceleration = estimate_prescribed_acceleration(segment, 0).values;
  double largest = 0.0;
  for (Eigen::Index k = 20; k + 20 < acceleration.size(); ++k) {
    const double middle = 0.5 * (segment.time(k) + segment.time(k + 1));
    const double exact = -kFrequency * kFrequency * position(middle);
    largest = std::max(largest, std::abs(acceleration[k] - exact));
  }
  return largest / (kAmplitude * kFrequency * kFrequency);
}

// In second differences over 5 ms, a noise of 10 µm would be errors of 1 m/s² (standard deviation),
// a tenth of the amplitude of 8.9 m/s², and the largest of 1000 errors a third of the amplitude.
TEST(PrescribedAcceleration, IsSmootherThanSecondDifferences) {
  EXPECT_LT(largest_error(record(1000, 1e-5)), 0.06);
}

TEST(PrescribedAcceleration, ReadsMissingAndIrregularRows) {
  Segment segment = record(1000, 1e-5);
  for (int k = 0; k < 1000; k += 3) segment.angles(k, 0) = std::nan("");
  EXPECT_LT(largest_error(segment), 0.06);
  Segment irregular = record(1000, 0.0);
  std::mt19937 random(2);
  std::uniform_real_distribution<double> early(-0.4 * kStepperPeriod, 0.0);
  for (int k = 0; k < 1000; ++k) {
    irregular.times.push_back(k == 0 ? 0.0 : k * kStepperPeriod + early(random));
    irregular.angles(k, 0) = position(irregular.times.back());
  }
  EXPECT_LT(largest_error(irregular), 0.03);
}

// Constant accelerations between the rows reproduce the coordinate, so errors do not accumulate.
TEST(PrescribedAcceleration, ReproducesTheCoordinate) {
  const double noise = 1e-5;
  const Segment segment = record(2000, noise);
  const Eigen::VectorXd acceleration = estimate_prescribed_acceleration(segment, 0).values;
  Eigen::MatrixXd initial(2000, 2);  // effect of the initial coordinate and speed
  Eigen::VectorXd forced(2000);
  double x = 0.0, v = 0.0;
  for (int k = 0; k < 2000; ++k) {
    initial.row(k) << 1.0, k * kStepperPeriod;
    forced[k] = segment.angles(k, 0) - x;
    x += kStepperPeriod * v + 0.5 * kStepperPeriod * kStepperPeriod * acceleration[k];
    v += kStepperPeriod * acceleration[k];
  }
  const Eigen::VectorXd state =
      (initial.transpose() * initial).llt().solve(initial.transpose() * forced);
  const double rms = (forced - initial * state).norm() / std::sqrt(2000.0);
  EXPECT_LT(rms, 1.05 * noise);
  EXPECT_GT(rms, 0.7 * noise);
}

TEST(PrescribedAcceleration, IsZeroWithoutMotion) {
  Segment segment = record(100, 0.0);
  segment.angles.setConstant(0.3);
  EXPECT_TRUE(estimate_prescribed_acceleration(segment, 0).values.isZero(0.0));
  EXPECT_EQ(estimate_prescribed_acceleration(record(4, 0.0), 0).values, Eigen::VectorXd::Zero(4));
  EXPECT_FALSE(estimate_prescribed_acceleration(record(5, 1e-6), 0).values.isZero(0.0));
}

}  // namespace
}  // namespace estimator
