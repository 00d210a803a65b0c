#include "estimator/signal/low_pass.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <random>

namespace estimator {
namespace {

constexpr double kEvery = 1e-3;  // [s]
constexpr double kUsual = 10.0;  // [Hz]
constexpr Eigen::Index kRows = 4000;

Eigen::MatrixXd sine(double frequency, double amplitude) {
  Eigen::MatrixXd signal(kRows, 1);
  for (Eigen::Index k = 0; k < kRows; ++k) {
    signal(k, 0) =
        amplitude * std::sin(2.0 * std::numbers::pi * frequency * static_cast<double>(k) * kEvery);
  }
  return signal;
}

Eigen::MatrixXd noise(double deviation) {
  std::mt19937 random(7);
  std::normal_distribution<double> normal(0.0, deviation);
  return Eigen::MatrixXd::NullaryExpr(kRows, 1, [&] { return normal(random); });
}

// Away from the ends, which are reflected.
double rms_inside(const Eigen::MatrixXd& signal) {
  const auto inside = signal.middleRows(kRows / 8, 3 * kRows / 4);
  return std::sqrt(inside.squaredNorm() / static_cast<double>(inside.rows()));
}

TEST(LowPass, HalvesThePowerTwiceAtItsCutoff) {
  const Eigen::MatrixXd signal = sine(kUsual, 1.0);
  // 1/√2 forward, 1/√2 backward; the sine's ends leave 1e-3.
  EXPECT_NEAR(rms_inside(apply_low_pass(signal, kUsual, kEvery)), 0.5 * rms_inside(signal), 1e-3);
}

// Just below 0.8 of the Nyquist frequency it filters, from there on it does not.
TEST(LowPass, KeepsSignalsIfTheCutoffIsTooHigh) {
  const Eigen::MatrixXd signal = noise(1.0);
  EXPECT_EQ(apply_low_pass(signal, 400.0, kEvery), signal);
  EXPECT_NE(apply_low_pass(signal, 399.0, kEvery), signal);
  EXPECT_EQ(apply_noise_matched_low_pass(signal, std::numeric_limits<double>::infinity(), kEvery),
            signal);
}

// At 10 Hz nine tenths of a 20 Hz motion would be lost; the loss must not exceed the noise.
TEST(LowPass, FollowsFastMotionToTheNoiseLevel) {
  constexpr double kNoise = 1e-3;
  const Eigen::MatrixXd motion = sine(20.0, 1.0);
  const Eigen::MatrixXd readings = motion + noise(kNoise);
  EXPECT_GT(rms_inside(apply_low_pass(readings, kUsual, kEvery) - motion), 0.5);
  EXPECT_LT(rms_inside(apply_noise_matched_low_pass(readings, kUsual, kEvery) - motion),
            2.0 * kNoise);
}

// Noise does not raise the cutoff, nor does the jump of an encoder slip.
TEST(LowPass, KeepsItsCutoffForNoiseAndJumps) {
  Eigen::MatrixXd jump = Eigen::MatrixXd::Zero(kRows, 1);
  jump.bottomRows(kRows / 2).setOnes();
  for (const Eigen::MatrixXd& readings : {noise(1e-3), jump}) {
    EXPECT_EQ(apply_noise_matched_low_pass(readings, kUsual, kEvery),
              apply_low_pass(readings, kUsual, kEvery));
  }
}

// A fast joint beside a slow one: each has its own cutoff.
TEST(LowPass, RaisesTheCutoffOfOneSignalAlone) {
  Eigen::MatrixXd both(kRows, 2);
  both << sine(20.0, 1.0) + noise(1e-3), noise(1e-3);
  const Eigen::MatrixXd filtered = apply_noise_matched_low_pass(both, kUsual, kEvery);
  EXPECT_EQ(filtered.col(1), apply_low_pass(both.col(1), kUsual, kEvery).col(0));
  EXPECT_GT((filtered.col(0) - apply_low_pass(both.col(0), kUsual, kEvery).col(0)).norm(), 1.0);
}

// Missing readings stay missing, and no other readings are lost with them.
TEST(LowPass, KeepsMissingReadingsMissing) {
  const Eigen::MatrixXd motion = sine(20.0, 1.0);
  Eigen::MatrixXd readings = motion + noise(1e-3);
  readings.middleRows(kRows / 2, 5).setConstant(std::numeric_limits<double>::quiet_NaN());
  const Eigen::MatrixXd filtered = apply_noise_matched_low_pass(readings, kUsual, kEvery);
  EXPECT_TRUE(filtered.middleRows(kRows / 2, 5).hasNaN());
  EXPECT_LT((filtered - motion).middleRows(kRows / 8, kRows / 4).cwiseAbs().maxCoeff(), 0.01);
}

}  // namespace
}  // namespace estimator
