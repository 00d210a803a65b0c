#include "estimator/signal/low_pass.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <limits>
#include <numbers>
#include <random>
#include <stdexcept>

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

std::complex<double> response(const SectionCascade& sections, double cycles_per_sample) {
  const std::complex<double> z_inverse =
      std::polar(1.0, -2.0 * std::numbers::pi * cycles_per_sample);
  std::complex<double> gain = 1.0;
  for (const SecondOrderSection& s : sections) {
    gain *= (s.b0 + z_inverse * (s.b1 + z_inverse * s.b2)) /
            (1.0 + z_inverse * (s.a1 + z_inverse * s.a2));
  }
  return gain;
}

// The magnitude defines the filter. Catches missing prewarping, a wrong pole angle or a wrong gain
// of any section at some order and frequency. Does not test the phase.
TEST(ButterworthLowPass, HasTheMagnitudeOfItsDefinition) {
  constexpr double kPeriod = 2e-3;
  for (const double cutoff : {0.5, 10.0, 90.0, 240.0}) {
    for (int order = 1; order <= 8; ++order) {
      const SectionCascade sections = design_butterworth_low_pass(order, cutoff, kPeriod);
      for (const double frequency : {0.0, 0.3, 5.0, 10.0, 60.0, 200.0, 245.0}) {
        SCOPED_TRACE(::testing::Message() << order << " " << cutoff << " Hz, " << frequency);
        const double ratio = std::tan(std::numbers::pi * frequency * kPeriod) /
                             std::tan(std::numbers::pi * cutoff * kPeriod);
        const double expected = 1.0 / std::sqrt(1.0 + std::pow(ratio, 2 * order));
        // Round-off grows with (1/K)² per section at low cutoffs: K = 3e-3 here, 4 sections.
        EXPECT_NEAR(std::abs(response(sections, frequency * kPeriod)), expected, 1e-9);
      }
    }
  }
}

// Poles outside the unit circle have the same magnitude; only stability distinguishes them. A
// section is stable when |a2| < 1 and |a1| < 1 + a2.
TEST(ButterworthLowPass, IsStable) {
  for (int order = 1; order <= 12; ++order) {
    for (const SecondOrderSection& s : design_butterworth_low_pass(order, 10.0, 1e-3)) {
      EXPECT_LT(std::abs(s.a2), 1.0);
      EXPECT_LT(std::abs(s.a1), 1.0 + s.a2);
    }
  }
}

TEST(ButterworthLowPass, RejectsACutoffItCannotRealise) {
  EXPECT_THROW(design_butterworth_low_pass(2, 500.0, 1e-3), std::invalid_argument);
  EXPECT_THROW(design_butterworth_low_pass(2, 0.0, 1e-3), std::invalid_argument);
  EXPECT_THROW(design_butterworth_low_pass(0, 10.0, 1e-3), std::invalid_argument);
  EXPECT_THROW(design_butterworth_low_pass(2, 10.0, 0.0), std::invalid_argument);
}

}  // namespace
}  // namespace estimator
