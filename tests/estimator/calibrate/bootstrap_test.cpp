#include "estimator/calibrate/bootstrap.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "estimator/calibrate/calibrate.hpp"
#include "estimator/math/distributions.hpp"
#include "tests/support/mechanisms/reference_rigs.hpp"
#include "tests/support/reference_simulators.hpp"
#include "tests/support/refusal.hpp"

namespace estimator {
namespace {

using namespace test_support;

// Values from tables of the normal distribution.
TEST(NormalDistribution, HasItsProbabilitiesAndQuantiles) {
  EXPECT_NEAR(standard_normal_probability(0.0), 0.5, 1e-15);
  EXPECT_NEAR(standard_normal_probability(1.0), 0.841344746068543, 1e-13);
  EXPECT_NEAR(standard_normal_quantile(0.975), 1.959963984540054, 1e-12);
  EXPECT_NEAR(standard_normal_quantile(1e-6), -4.753424308822899, 1e-10);
}

std::vector<double> normal_draws(int count, double mean, double deviation) {
  std::vector<double> draws;
  for (int i = 0; i < count; ++i) {
    draws.push_back(mean + deviation * standard_normal_quantile((i + 0.5) / count));
  }
  return draws;
}

// Draws at the quantiles of a normal distribution about the estimate: all intervals are normal.
TEST(BootstrapIntervals, AreNormalForNormalDraws) {
  std::vector<double> draws = normal_draws(10000, 3.0, 0.5);
  draws.push_back(std::nan(""));
  const BootstrapDistribution result = summarize_draws(draws, 3.0, 0.0);
  EXPECT_EQ(result.draws, 10000);
  EXPECT_NEAR(result.mean, 3.0, 1e-12);
  EXPECT_NEAR(result.standard_deviation, 0.5, 5e-4);  // the outermost quantiles lack their tails
  EXPECT_NEAR(result.lower, 3.0 - 1.96 * 0.5, 1e-3);
  EXPECT_NEAR(result.upper, 3.0 + 1.96 * 0.5, 1e-3);
  EXPECT_NEAR(result.bca_lower, result.lower, 1e-3);
  EXPECT_NEAR(result.bca_upper, result.upper, 1e-3);
}

// The ends of BCa intervals are quantiles of the draws, so a monotonic function of the parameter
// maps the interval [Efr93, ch. 14.3]. Percentile intervals do, too; normal intervals do not.
TEST(BootstrapIntervals, FollowTransformationsOfTheParameter) {
  const std::vector<double> draws = normal_draws(20000, 0.1, 0.4);
  std::vector<double> mapped;
  for (const double draw : draws) mapped.push_back(std::exp(draw));
  const BootstrapDistribution plain = summarize_draws(draws, 0.0, 0.08);
  const BootstrapDistribution result = summarize_draws(mapped, 1.0, 0.08);
  EXPECT_NEAR(std::log(result.bca_lower), plain.bca_lower, 1e-5);
  EXPECT_NEAR(std::log(result.bca_upper), plain.bca_upper, 1e-5);
  // Draws with mean 0.1 lie above the estimate: z₀ = −0.25. With a = 0.08 the lower end is at
  // z₀ + (z₀ − 1.96) / (1 − a (z₀ − 1.96)) = −2.128, the upper at −0.25 + 1.71 / 0.8632 = 1.731.
  EXPECT_NEAR(plain.bca_lower, 0.1 - 2.128 * 0.4, 2e-3);
  EXPECT_NEAR(plain.bca_upper, 0.1 + 1.731 * 0.4, 2e-3);
}

// a = Σ d³ / (6 (Σ d²)^{3/2}) with d = −1, −1, −1, −1, 4: 60 / (6 · 20^{3/2}) = 0.1118. The
// jackknife deviation is √(4/5 · 20) = 4.
TEST(BootstrapIntervals, ComputeTheAccelerationFromEstimatesWithoutOnePart) {
  const std::vector<double> without_one = {1.0, 1.0, 1.0, 1.0, -4.0};
  EXPECT_NEAR(estimate_bca_acceleration(without_one), 60.0 / (6.0 * std::pow(20.0, 1.5)), 1e-15);
  EXPECT_EQ(estimate_bca_acceleration({1.0, 2.0, 4.0}), 0.0);
  EXPECT_EQ(estimate_bca_acceleration({1.0, 1.0, 1.0, 1.0, 1.0}), 0.0);
  EXPECT_NEAR(compute_jackknife_deviation(without_one), 4.0, 1e-12);
  EXPECT_TRUE(std::isnan(compute_jackknife_deviation({1.0})));
}

/// A calibration of one parameter, with the estimate 1 ± 0.1.
Calibration one_parameter() {
  Calibration calibration;
  calibration.parameters.push_back(
      {.name = "b", .unit = "N", .value = 1.0, .standard_deviation = 0.1, .half_interval = 0.196});
  return calibration;
}

std::vector<BootstrapDraw> draws_of(int count, double deviation, double half_interval) {
  std::vector<BootstrapDraw> draws;
  for (const double value : normal_draws(count, 1.0, deviation)) {
    draws.push_back({{value}, {half_interval}});
  }
  return draws;
}

// 95 % of draws with half-widths of 1.96 standard deviations contain the truth, 80 % with 1.28.
TEST(AssessBootstrap, JudgesCoverage) {
  const Bootstrap good = assess_bootstrap(one_parameter(), {.noise = draws_of(200, 0.1, 0.196)});
  EXPECT_NEAR(good.parameters.at(0).coverage, 0.95, 0.006);
  EXPECT_EQ(good.verdict, IntervalVerdict::kHold);
  const Bootstrap narrow = assess_bootstrap(one_parameter(), {.noise = draws_of(200, 0.1, 0.128)});
  EXPECT_NEAR(narrow.parameters.at(0).coverage, 0.80, 0.006);
  EXPECT_TRUE(narrow.parameters.at(0).missed_by_noise);
  EXPECT_EQ(narrow.verdict, IntervalVerdict::kTooNarrow);
  const Bootstrap few = assess_bootstrap(one_parameter(), {.noise = draws_of(19, 0.1, 0.196)});
  EXPECT_EQ(few.verdict, IntervalVerdict::kUndecided);
}

// With 12 blocks and 200 draws, ratios up to 1 + 4 √(1/400 + 1/22) = 1.88 are within chance. The
// scatter is relative to the interval of all blocks, not to that of the whole.
TEST(AssessBootstrap, JudgesScatterOfBlocks) {
  for (const double ratio : {1.0, 1.8, 2.0}) {
    const BootstrapDraws draws{.blocks = draws_of(200, 0.3 * ratio, 3.0 * 0.196),
                               .all_blocks = {{1.0}, {3.0 * 0.196}},
                               .block_count = 12};
    const Bootstrap result = assess_bootstrap(one_parameter(), draws);
    EXPECT_NEAR(result.parameters.at(0).block_ratio, ratio, 0.02 * ratio);
    EXPECT_EQ(result.verdict, ratio < 1.9 ? IntervalVerdict::kHold : IntervalVerdict::kTooNarrow);
  }
}

// Of 20 draws, 4 misses are frequent (coverage of 80 %), and 8 are not.
TEST(AssessBootstrap, IsNotTooStrictWithFewDraws) {
  for (const int misses : {4, 8}) {
    std::vector<BootstrapDraw> draws(20, BootstrapDraw{{1.0}, {0.196}});
    for (int i = 0; i < misses; ++i) draws[static_cast<std::size_t>(i)].values[0] = 1.3;
    const Bootstrap result = assess_bootstrap(one_parameter(), {.noise = draws});
    EXPECT_EQ(result.verdict, misses == 4 ? IntervalVerdict::kHold : IntervalVerdict::kTooNarrow);
  }
}

// One block contains the information: draws without it scatter more, and have wider intervals.
TEST(AssessBootstrap, RelatesScatterToTheIntervalOfEachDraw) {
  BootstrapDraws draws{
      .blocks = draws_of(150, 0.1, 0.196), .all_blocks = {{1.0}, {0.196}}, .block_count = 12};
  for (const BootstrapDraw& wide : draws_of(50, 0.5, 5.0 * 0.196)) draws.blocks.push_back(wide);
  const BootstrapParameter parameter = assess_bootstrap(one_parameter(), draws).parameters.at(0);
  EXPECT_GT(parameter.blocks.half_interval() / 0.196, 2.0);
  EXPECT_NEAR(parameter.block_ratio, 1.0, 0.1);
  EXPECT_FALSE(parameter.exceeded_by_blocks);
}

// At a bound of the parameter, intervals are zero, and their ratio means nothing.
TEST(AssessBootstrap, DoesNotCompareIntervalsOfZero) {
  const Bootstrap result = assess_bootstrap(
      one_parameter(),
      {.blocks = draws_of(40, 0.1, 0.196), .all_blocks = {{1.0}, {0.0}}, .block_count = 12});
  EXPECT_TRUE(std::isnan(result.parameters.at(0).block_ratio));
  EXPECT_EQ(result.verdict, IntervalVerdict::kUndecided);
}

constexpr double kPeriod = 5e-3;  // [s]

ReferencePendulum pendulum_rig() { return {.b = 5e-4}; }

/// Calibrates readings of a swing of 5 s, and prepares a bootstrap of them.
BootstrapInput input_of(const Eigen::VectorXd& readings, Calibration& calibration) {
  const Mechanism mechanism = freed(pendulum_of(pendulum_rig()), {"P.J_zz", "1.b"}, 1.2);
  const std::vector<Recording> recordings = {{"swing", {undriven(readings, kPeriod)}}};
  calibration = calibrate(mechanism, recordings);
  BootstrapInput input = make_bootstrap_input(mechanism, recordings, calibration, {}, 0.0);
  input.seed = 5;
  return input;
}

Eigen::VectorXd swing_angles() {
  return simulate(pendulum_rig(), Eigen::Vector2d(1.2, 0.0), kPeriod, 1000).col(0);
}

/// Computes draws of simulated sensor errors, and compares them with the reported intervals.
Bootstrap bootstrap_of(const BootstrapInput& input, const Calibration& calibration, int count) {
  BootstrapDraws draws;
  for (int i = 0; i < count; ++i) {
    draws.noise.push_back(compute_bootstrap_draw(input, BootstrapMethod::kNoise, i, {}));
  }
  return assess_bootstrap(calibration, draws);
}

// White noise: the scatter of the draws is the reported standard deviation, within the Monte-Carlo
// error 1/√(2 · 150) = 0.058 of a standard deviation and that of the noise level; four of them.
TEST(Bootstrap, AgreesWithReportedIntervalsForNoise) {
  Calibration calibration;
  const BootstrapInput input = input_of(with_noise(swing_angles(), 1e-3, 3), calibration);
  ASSERT_TRUE(can_simulate_readings(input.mechanism, calibration));
  EXPECT_EQ(input.errors.at(0).quantum, 0.0);
  EXPECT_NEAR(input.errors.at(0).noise, 1e-3, 1e-4);
  const Bootstrap result = bootstrap_of(input, calibration, 150);
  ASSERT_EQ(result.parameters.size(), 2U);
  for (const BootstrapParameter& p : result.parameters) {
    const double ratio = p.noise.standard_deviation / p.reported.standard_deviation;
    EXPECT_NEAR(ratio, 1.0, 4.0 * 0.062) << p.reported.name;
    EXPECT_NEAR(p.noise.half_interval() / p.reported.half_interval, 1.0, 0.35) << p.reported.name;
    EXPECT_FALSE(p.missed_by_noise) << p.reported.name << ' ' << p.coverage;
  }
  EXPECT_EQ(result.verdict, IntervalVerdict::kHold);
}

// Quantized readings: the draws are quantized with the same step, and the intervals hold.
TEST(Bootstrap, SimulatesQuantization) {
  constexpr double kQuantum = 2.0 * M_PI / 4096.0;
  Calibration calibration;
  const Eigen::VectorXd counts = (swing_angles().array() / kQuantum).round() * kQuantum;
  const BootstrapInput input = input_of(counts, calibration);
  EXPECT_NEAR(input.errors.at(0).quantum, kQuantum, 1e-6 * kQuantum);
  EXPECT_EQ(input.errors.at(0).noise, 0.0);
  const auto draw = make_bootstrap_recordings(input, BootstrapMethod::kNoise, 0);
  const Eigen::VectorXd& readings = draw.at(0).segments.at(0).angles.col(0);
  for (Eigen::Index k = 1; k < readings.size(); ++k) {
    const double steps = (readings[k] - readings[k - 1]) / kQuantum;
    ASSERT_NEAR(steps, std::round(steps), 1e-6) << k;
  }
  EXPECT_EQ(bootstrap_of(input, calibration, 60).verdict, IntervalVerdict::kHold);
}

// Draws depend on seed, method and index alone.
TEST(Bootstrap, IsReproducible) {
  Calibration calibration;
  BootstrapInput input = input_of(with_noise(swing_angles(), 1e-3, 3), calibration);
  input.blocks = {{"a", {undriven(Eigen::VectorXd::Constant(3, 1.0), kPeriod)}},
                  {"a", {undriven(Eigen::VectorXd::Constant(3, 2.0), kPeriod)}},
                  {"a", {undriven(Eigen::VectorXd::Constant(3, 3.0), kPeriod)}}};
  input.parts = input.blocks;
  const auto first_readings = [&](BootstrapMethod method, int index) {
    std::vector<double> values;
    for (const Recording& each : make_bootstrap_recordings(input, method, index)) {
      values.push_back(each.segments.front().angles(0, 0));
    }
    return values;
  };
  EXPECT_EQ(first_readings(BootstrapMethod::kNoise, 4), first_readings(BootstrapMethod::kNoise, 4));
  EXPECT_NE(first_readings(BootstrapMethod::kNoise, 4), first_readings(BootstrapMethod::kNoise, 5));
  EXPECT_EQ(first_readings(BootstrapMethod::kLeaveOut, 1), (std::vector<double>{1.0, 3.0}));
  std::set<double> drawn;
  for (int i = 0; i < 20; ++i) {
    const std::vector<double> blocks = first_readings(BootstrapMethod::kBlocks, i);
    EXPECT_EQ(blocks.size(), 3U);
    drawn.insert(blocks.begin(), blocks.end());
  }
  EXPECT_EQ(drawn, (std::set<double>{1.0, 2.0, 3.0}));
  const std::vector<double> before = first_readings(BootstrapMethod::kNoise, 4);
  input.seed = 6;
  EXPECT_NE(first_readings(BootstrapMethod::kNoise, 4), before);
}

// An error of the encoder disc has one period per turn and its amplitude, with a random phase.
TEST(Bootstrap, SimulatesEncoderDiscs) {
  Calibration calibration;
  BootstrapInput input = input_of(with_noise(swing_angles(), 1e-3, 3), calibration);
  input.errors.at(0) = {.noise = 0.0, .quantum = 0.0, .disc = 0.01};
  const Eigen::VectorXd predicted = input.predicted.at(0).segments.at(0).angles.col(0);
  const auto draw = make_bootstrap_recordings(input, BootstrapMethod::kNoise, 0);
  const Eigen::VectorXd error = draw.at(0).segments.at(0).angles.col(0) - predicted;
  Eigen::MatrixXd harmonics(predicted.size(), 2);
  harmonics << predicted.array().sin(), predicted.array().cos();
  const Eigen::Matrix2d A = harmonics.transpose() * harmonics;
  const Eigen::Vector2d y = harmonics.transpose() * error;
  const Eigen::Vector2d found =
      Eigen::Vector2d(A(1, 1) * y[0] - A(0, 1) * y[1], A(0, 0) * y[1] - A(1, 0) * y[0]) /
      (A(0, 0) * A(1, 1) - A(0, 1) * A(1, 0));
  EXPECT_NEAR(found.norm(), 0.01, 1e-9);
  EXPECT_LT((error - harmonics * found).norm(), 1e-9);
}

TEST(Bootstrap, IsRefusedForShadowParameters) {
  Calibration calibration;
  calibration.kind = EstimateKind::kShadow;
  const std::string text = refusal<std::invalid_argument>(
      [&] { make_bootstrap_input(pendulum_of(pendulum_rig()), {}, calibration, {}, 0.0); });
  expect_parts(text, {"needs physical parameters", "leave out the options of a simulator"});
}

}  // namespace
}  // namespace estimator
