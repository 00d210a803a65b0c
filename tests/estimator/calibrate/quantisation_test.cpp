#include "estimator/assessment/quantization.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <utility>

#include "estimator/calibrate/calibrate.hpp"
#include "estimator/fit/physical/shooting/shooting_problem.hpp"
#include "estimator/optimize/covariance.hpp"
#include "tests/support/estimates.hpp"
#include "tests/support/mechanisms/reference_rigs.hpp"
#include "tests/support/reference_simulators.hpp"

namespace estimator {
namespace {

using namespace test_support;

constexpr double kQuantum = 2.0 * M_PI / 4096.0;

Segment segment_of(const Eigen::VectorXd& angles) { return undriven(angles, 1e-3); }

Eigen::VectorXd counted(const Eigen::VectorXd& angles, double phase) {
  return ((angles.array() / kQuantum + phase).round() - phase) * kQuantum;
}

/// A swing that comes to rest half-way.
ReferencePendulum sticking() { return {.b = 2e-4, .tau_c = 0.08, .tau_s = 0.08}; }

Mechanism described(const std::vector<std::string>& free) {
  return freed(pendulum_of(sticking()), free);
}

Eigen::VectorXd swing() {
  return test_support::simulate(sticking(), Eigen::Vector2d(2.0, 0.0), 1e-3, 6000).col(0);
}

// Counts of an encoder are recognized, also with nine decimals in a text file and with an offset.
// Noise and a constant are not counts.
TEST(FindQuantizationStep, DistinguishesQuantizationFromNoise) {
  const Eigen::VectorXd angles = swing();
  Eigen::VectorXd counts = counted(angles, 0.3).array() + 0.123;
  EXPECT_NEAR(find_quantization_step({segment_of(counts)}, 0), kQuantum, 1e-6 * kQuantum);
  counts = (counts.array() * 1e9).round() / 1e9;
  EXPECT_NEAR(find_quantization_step({segment_of(counts)}, 0), kQuantum, 1e-6 * kQuantum);
  EXPECT_EQ(find_quantization_step({segment_of(with_noise(angles, 1e-3, 3))}, 0), 0.0);
  EXPECT_EQ(find_quantization_step({segment_of(Eigen::VectorXd::Constant(100, 1.0))}, 0), 0.0);
}

/// Readings that alternate by ±a: all of it is noise, with standard deviation 16 a/√70.
Segment alternating(double noise) {
  Eigen::VectorXd angles = Eigen::VectorXd::Constant(100, noise * std::sqrt(70.0) / 16.0);
  for (Eigen::Index k = 0; k < angles.size(); k += 2) angles[k] = -angles[k];
  return segment_of(angles);
}

// The scatter of quantization itself is no analog noise. Up to 10 % more is not either, since that
// is the uncertainty of its estimate; beyond, all of the excess is. The noisiest segment decides.
TEST(NoiseBeforeQuantization, IsTheVarianceInExcessOfQuantization) {
  const double encoder = kQuantum * kQuantum / 12.0;
  const auto with_excess = [&](double share) {
    return alternating(std::sqrt((1.0 + share) * encoder));
  };
  EXPECT_EQ(estimate_noise_before_quantization({with_excess(-0.5)}, 0, kQuantum), 0.0);
  EXPECT_EQ(estimate_noise_before_quantization({with_excess(0.0)}, 0, kQuantum), 0.0);
  EXPECT_EQ(estimate_noise_before_quantization({with_excess(0.09)}, 0, kQuantum), 0.0);
  EXPECT_NEAR(estimate_noise_before_quantization({with_excess(0.11)}, 0, kQuantum), 0.11 * encoder,
              1e-9 * encoder);
  EXPECT_NEAR(estimate_noise_before_quantization(
                  {with_excess(0.2), with_excess(3.0), with_excess(0.5)}, 0, kQuantum),
              3.0 * encoder, 1e-9 * encoder);
}

// Residuals up to half a count can be quantization error, wherever a joint rests. A model error of
// a sixth of a count more is not quantization error.
TEST(CanBeQuantizationError, AcceptsErrorsUpToHalfAQuantizationStep) {
  Eigen::VectorXd errors = Eigen::VectorXd::LinSpaced(1001, -0.5, 0.5) * kQuantum;
  EXPECT_TRUE(can_be_quantization_error({errors}, kQuantum, 0.0));
  EXPECT_TRUE(can_be_quantization_error({Eigen::VectorXd::Constant(500, 0.5 * kQuantum), errors},
                                        kQuantum, 0.0));
  errors *= 4.0 / 3.0;
  EXPECT_FALSE(can_be_quantization_error({errors}, kQuantum, 0.0));
  const double noise = 0.1 * kQuantum;  // before quantization
  EXPECT_TRUE(can_be_quantization_error({errors}, kQuantum, noise * noise));
}

// A pendulum comes to rest half-way; from then on every reading has the same error. Over 60 phases
// of the encoder disc the estimates scatter as reported. With independent errors some reported
// standard deviations would be wrong by half.
TEST(QuantizationCovariance, MatchesTheCovarianceOverPhasesOfTheGrid) {
  const ReferencePendulum rig = sticking();
  const std::vector<std::pair<std::string, double>> truth = {
      {"P.J_zz", rig.J}, {"1.b", rig.b}, {"1.tau_c", rig.tau_c}};
  const Mechanism mechanism = described({"P.J_zz", "1.b", "1.tau_c"});
  const Eigen::VectorXd angles = swing();
  ASSERT_EQ(angles[3500], angles[6000]) << "must be at rest";
  const int runs = 60;
  Eigen::Vector3d squares = Eigen::Vector3d::Zero();
  for (int run = 0; run < runs; ++run) {
    const auto result =
        calibrate(mechanism, {{"release", {segment_of(counted(angles, (run + 0.5) / runs))}}});
    for (std::size_t i = 0; i < truth.size(); ++i) {
      const ParameterEstimate& estimate = estimate_of(result, truth[i].first);
      squares[static_cast<Eigen::Index>(i)] +=
          std::pow((estimate.value - truth[i].second) / estimate.standard_deviation, 2);
    }
  }
  for (Eigen::Index i = 0; i < 3; ++i) {
    EXPECT_NEAR(std::sqrt(squares[i] / runs), 1.0, 0.3) << truth[static_cast<std::size_t>(i)].first;
  }
}

/// The swing, quantized by `quantum`, as a problem of its friction with one node at its start.
ShootingProblem problem_of(const Eigen::VectorXd& angles, double quantum) {
  return {described({"1.b", "1.tau_c"}),
          {segment_of(angles)},
          {Eigen::Vector2d(2.0, 0.0)},
          {1.0},
          {.step = 1e-3, .interval = HUGE_VAL},
          {.angle = Eigen::VectorXd::Constant(1, quantum / std::sqrt(12.0)),
           .acceleration = Eigen::VectorXd::Ones(1)}};
}

// Sampled and normal errors together have the total covariance, whatever motion is assumed. Without
// an inverse no samples are drawn, and the covariance is the same.
TEST(QuantizationErrors, SamplesMatchTheCovariance) {
  const ShootingProblem problem = problem_of(swing(), kQuantum);
  const Eigen::MatrixXd inverse = compute_information(problem).inverse;
  const auto drawn = compute_quantization_errors(problem, {{0, kQuantum, 0.0}}, inverse);
  ASSERT_EQ(drawn.draws.cols(), 4000);
  const Eigen::MatrixXd whole = drawn.normal_scatter + drawn.draws * drawn.draws.transpose() / 4000;
  EXPECT_LT((whole - drawn.scatter[0]).norm(), 0.15 * drawn.scatter[0].norm());
  const auto plain = compute_quantization_errors(problem, {{0, kQuantum, 0.0}});
  EXPECT_EQ(plain.draws.cols(), 0);
  EXPECT_EQ(plain.scatter[0], drawn.scatter[0]);
}

// With a known motion, the 95 % quantile of the errors depends on the number of counts between
// turning points: here 1.65 to 1.96 standard deviations. Readings determine the motion only
// roughly. With sampled motions the quantile is almost independent of the counts per turn.
TEST(QuantizationErrors, SamplesIncludeTheUncertaintyOfTheMotion) {
  const auto spread = [](double known) {
    double least = HUGE_VAL, most = 0.0;
    for (const double counts : {40.0, 52.0, 68.0, 88.0, 114.0}) {
      const double quantum = 2.0 * M_PI / counts;
      const ShootingProblem problem = problem_of(swing(), quantum);
      const Eigen::MatrixXd inverse = compute_information(problem).inverse;
      const auto errors =
          compute_quantization_errors(problem, {{0, quantum, 0.0}}, known * known * inverse);
      for (Eigen::Index row = 0; row < inverse.rows(); ++row) {
        Eigen::VectorXd along = (inverse.row(row) * errors.draws).cwiseAbs().transpose();
        std::sort(along.begin(), along.end());
        const double end = along[3800] / std::sqrt(along.squaredNorm() / 4000.0);
        least = std::min(least, end);
        most = std::max(most, end);
      }
    }
    return most - least;
  };
  EXPECT_LT(spread(1.0), 0.5 * spread(1e-3));
}

/// A cart that sticks, moves within 50 ms, and sticks again at random places.
Eigen::VectorXd staircase() {
  std::mt19937 random(4);
  std::uniform_real_distribution<double> height(-30.0, 30.0);
  Eigen::VectorXd angles(20000);
  double from = 0.0, to = 0.0;
  for (Eigen::Index k = 0; k < angles.size(); ++k) {
    if (k % 250 == 0) from = std::exchange(to, height(random) * kQuantum);
    angles[k] = from + (to - from) * std::min(1.0, static_cast<double>(k % 250) / 50.0);
  }
  return angles;
}

// A sticking joint repeats one quantization error at every sample. With so few independent errors
// some agree by chance at any disc phase. For a wrong model all are correlated.
TEST(CorrelationBeyondQuantization, CountsAStickingJointAsOneError) {
  const Eigen::VectorXd angles = staircase();
  const Eigen::VectorXd slow = Eigen::VectorXd::LinSpaced(angles.size(), 0.0, 40.0).array().sin();
  for (int phase = 0; phase < 10; ++phase) {
    const Eigen::VectorXd errors = counted(angles, 0.1 * phase) - angles;
    EXPECT_FALSE(is_correlated_beyond_quantization({errors}, {angles}, 1e-3, kQuantum, 0.0))
        << phase;
    EXPECT_TRUE(is_correlated_beyond_quantization({errors + kQuantum * slow}, {angles}, 1e-3,
                                                  kQuantum, 0.0))
        << phase;
  }
}

// Quantization errors of a swinging joint, alone and with those of a model that is wrong by less
// than half a count.
TEST(CorrelationBeyondQuantization, DetectsAModelErrorBelowAQuantizationStep) {
  const Eigen::VectorXd angles = swing();
  const Eigen::VectorXd slow = Eigen::VectorXd::LinSpaced(angles.size(), 0.0, 30.0).array().sin();
  int reported = 0;
  for (int phase = 0; phase < 10; ++phase) {
    const Eigen::VectorXd errors = counted(angles, 0.1 * phase) - angles;
    EXPECT_FALSE(is_correlated_beyond_quantization({errors}, {angles}, 1e-3, kQuantum, 0.0))
        << phase;
    const Eigen::VectorXd off = errors + 0.4 * kQuantum * slow;
    reported += is_correlated_beyond_quantization({off}, {angles}, 1e-3, kQuantum, 0.0) ? 1 : 0;
  }
  EXPECT_EQ(reported, 10);
}

}  // namespace
}  // namespace estimator
