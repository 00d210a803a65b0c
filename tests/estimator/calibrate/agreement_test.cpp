#include "estimator/assessment/part_consistency.hpp"

#include <gtest/gtest.h>

#include <Eigen/Cholesky>
#include <Eigen/LU>
#include <cmath>
#include <random>
#include <vector>

#include "estimator/math/distributions.hpp"

namespace estimator {
namespace {

/// Parts of the recordings that measure one parameter near zero, with these estimates and standard
/// deviations.
std::vector<RecordingPartScore> scalar_pieces(const std::vector<double>& readings,
                                              const std::vector<double>& deviations) {
  std::vector<RecordingPartScore> parts;
  for (std::size_t p = 0; p < readings.size(); ++p) {
    const double weight = 1.0 / (deviations[p] * deviations[p]);
    const Eigen::MatrixXd H = Eigen::MatrixXd::Constant(1, 1, weight);
    parts.push_back({Eigen::VectorXd::Constant(1, weight * readings[p]), H, H});
  }
  return parts;
}

RecordingPartComparison compare(const std::vector<RecordingPartScore>& parts, bool cut = false) {
  const Eigen::Index n = parts.front().score.size();
  return compare_part_scores(parts, Eigen::MatrixXd::Zero(n, n), Eigen::VectorXd::Zero(n), cut);
}

// Cochran's Q of a weighted mean, computed by hand. Catches a wrong centre, weight or count.
TEST(RecordingPartComparison, StatisticIsCochransQOfAWeightedMean) {
  const std::vector<double> y = {1.0, 3.0, 2.5, -1.0}, s = {1.0, 0.5, 2.0, 1.0};
  double weights = 0.0, sum = 0.0, Q = 0.0;
  for (std::size_t p = 0; p < y.size(); ++p) {
    weights += 1.0 / (s[p] * s[p]);
    sum += y[p] / (s[p] * s[p]);
  }
  const double mean = sum / weights;
  for (std::size_t p = 0; p < y.size(); ++p) Q += std::pow((y[p] - mean) / s[p], 2);
  const RecordingPartComparison result = compare(scalar_pieces(y, s));
  EXPECT_NEAR(result.agreement.statistic, Q, 1e-12 * Q);
  EXPECT_EQ(result.agreement.degrees_of_freedom, 3.0);
  EXPECT_NEAR(result.agreement.p_value, chi_square_tail_probability(Q, 3.0), 1e-15);
  EXPECT_NEAR(result.shift[0], mean, 1e-12);
  EXPECT_NEAR(result.noise(0, 0), 1.0 / weights, 1e-12);
  for (std::size_t p = 0; p < y.size(); ++p) {
    EXPECT_NEAR(result.estimates[p][0], y[p], 1e-12);
    EXPECT_NEAR(result.deviations[p][0], s[p], 1e-12);
  }
}

// The first part measures parameter 0 alone, all other parts the sum of parameters 0 and 1. The
// first part must not report an estimate of parameter 1, which it does not measure.
TEST(RecordingPartComparison, OmitsParametersThatAPartDoesNotIdentify) {
  const auto reads = [](const Eigen::RowVector2d& row, double reading, double deviation) {
    const Eigen::MatrixXd H = row.transpose() * row / (deviation * deviation);
    return RecordingPartScore{row.transpose() * reading / (deviation * deviation), H, H};
  };
  const Eigen::RowVector2d first(1.0, 0.0), sum(1.0, 1.0);
  const RecordingPartComparison result =
      compare({reads(first, 0.3, 1.0), reads(sum, 0.1, 1e-3), reads(sum, -0.1, 1e-3)});
  EXPECT_NEAR(result.estimates[0][0], 0.3, 1e-9);
  EXPECT_NEAR(result.deviations[0][0], 1.0, 1e-9);
  EXPECT_TRUE(std::isnan(result.deviations[0][1]));
}

// Compares with the delete-one jackknife, computed by leaving each part out, for two parameters of
// unequal precision. Also checks the squared distance from the linearization point, here zero.
TEST(RecordingPartComparison, ScatterIsTheDeleteOneJackknife) {
  std::mt19937 random(5);
  std::normal_distribution<double> gaussian;
  std::vector<RecordingPartScore> parts;
  Eigen::Matrix2d H = Eigen::Matrix2d::Zero();
  Eigen::Vector2d g = Eigen::Vector2d::Zero();
  for (int p = 0; p < 6; ++p) {
    const Eigen::Matrix2d half = Eigen::Matrix2d::NullaryExpr([&] { return gaussian(random); });
    const Eigen::Vector2d score = Eigen::Vector2d::NullaryExpr([&] { return gaussian(random); });
    const Eigen::Matrix2d own = half * half.transpose() + Eigen::Matrix2d::Identity();
    parts.push_back({score, own, own});
    H += own;
    g += score;
  }
  const Eigen::Vector2d all = H.ldlt().solve(g);
  Eigen::Matrix2d scatter = all * all.transpose();
  for (const RecordingPartScore& part : parts) {
    const Eigen::Vector2d others =
        (H - part.information).eval().ldlt().solve((g - part.score).eval());
    scatter += 5.0 / 6.0 * (others - all) * (others - all).transpose();
  }
  const RecordingPartComparison result = compare(parts);
  EXPECT_LT((result.scatter - scatter).norm(), 1e-12 * scatter.norm());
  EXPECT_LT((result.shift - all).norm(), 1e-12);
}

// For equal parts the sandwich estimator with P/(P−1) is the variance of a mean.
TEST(RecordingPartComparison, ScatterOfEqualPartsIsTheDeviationOfTheirMean) {
  const std::vector<double> y = {-2.0, 1.0, 0.5, 0.5};
  const RecordingPartComparison result = compare(scalar_pieces(y, {0.1, 0.1, 0.1, 0.1}));
  double squares = 0.0;
  for (const double value : y) squares += value * value;  // about a mean of zero
  EXPECT_NEAR(result.scatter(0, 0), squares / (4.0 * 3.0), 1e-12);
  EXPECT_NEAR(result.effective_part_count[0], 4.0, 1e-12);
  EXPECT_LT(result.agreement.p_value, 1e-10);
}

// A parameter that only one part identifies has no scatter and is not tested for consistency.
TEST(RecordingPartComparison, ASinglePartHasNoScatter) {
  std::vector<RecordingPartScore> parts;
  for (int p = 0; p < 3; ++p) {
    Eigen::Matrix2d H = Eigen::Matrix2d::Zero();
    H(0, 0) = 1.0;
    H(1, 1) = p == 1 ? 1.0 : 0.0;
    parts.push_back({Eigen::Vector2d(p - 1.0, 0.0), H, H});
  }
  const RecordingPartComparison result = compare(parts);
  EXPECT_EQ(result.agreement.degrees_of_freedom, 2.0);
  EXPECT_NEAR(result.agreement.statistic, 2.0, 1e-12);
  EXPECT_NEAR(result.effective_part_count[1], 1.0, 1e-12);
  EXPECT_NEAR(result.scatter(1, 1), 0.0, 1e-12);
  EXPECT_TRUE(std::isnan(result.deviations[0][1]));
  EXPECT_NEAR(result.deviations[1][1], 1.0, 1e-12);
}

// Parts may agree with one another but not with the fit of the whole recording. Here their mean is
// two standard deviations off, which adds one degree of freedom.
TEST(RecordingPartComparison, ComparesPartsWithTheFitOfTheWhole) {
  const std::vector<RecordingPartScore> parts =
      scalar_pieces({1.0, 1.0, 1.0, 1.0}, {1.0, 1.0, 1.0, 1.0});
  EXPECT_NEAR(compare(parts, false).agreement.statistic, 0.0, 1e-12);
  EXPECT_EQ(compare(parts, false).agreement.degrees_of_freedom, 3.0);
  EXPECT_NEAR(compare(parts, true).agreement.statistic, 4.0, 1e-12);
  EXPECT_EQ(compare(parts, true).agreement.degrees_of_freedom, 4.0);
}

// Noise that the weights ignore (correlated, quantized) enters by its own covariance: four times
// the variance gives a quarter of Q.
TEST(RecordingPartComparison, UsesTheNoiseCovarianceOfTheParts) {
  std::vector<RecordingPartScore> parts = scalar_pieces({1.0, 2.0, 4.0}, {1.0, 1.0, 1.0});
  const double Q = compare(parts).agreement.statistic;
  for (RecordingPartScore& part : parts) part.noise *= 4.0;
  EXPECT_NEAR(compare(parts).agreement.statistic, 0.25 * Q, 1e-12);
}

// Parts that differ by noise alone are rejected as often as the significance level specifies, also
// along directions that some parts measure badly.
TEST(RecordingPartComparison, HasTheSpecifiedFalseRejectionRate) {
  std::mt19937 random(11);
  std::normal_distribution<double> gaussian;
  constexpr int kDraws = 2000, kRows = 20;
  int rejected = 0;
  for (int draw = 0; draw < kDraws; ++draw) {
    std::vector<RecordingPartScore> parts;
    for (int p = 0; p < 6; ++p) {
      Eigen::MatrixXd T = Eigen::MatrixXd::NullaryExpr(kRows, 3, [&] { return gaussian(random); });
      if (p % 2 == 0) T.col(2) *= 1e-4;
      const Eigen::VectorXd e =
          Eigen::VectorXd::NullaryExpr(kRows, [&] { return gaussian(random); });
      const Eigen::MatrixXd H = T.transpose() * T;
      parts.push_back({T.transpose() * e, H, H});
    }
    rejected += compare(parts).agreement.p_value < 0.05 ? 1 : 0;
  }
  EXPECT_NEAR(rejected, 0.05 * kDraws, 4.0 * std::sqrt(0.05 * 0.95 * kDraws));
}

// A prior constrains the estimate but does not contribute to the scatter.
TEST(RecordingPartComparison, LeavesPriorsOutOfAllParts) {
  const std::vector<RecordingPartScore> parts = scalar_pieces({1.0, 1.0}, {1.0, 1.0});
  const RecordingPartComparison result = compare_part_scores(
      parts, Eigen::MatrixXd::Constant(1, 1, 2.0), Eigen::VectorXd::Zero(1), false);
  EXPECT_NEAR(result.shift[0], 0.5, 1e-12);
  EXPECT_NEAR(result.agreement.statistic, 0.0, 1e-12);
}

// A direction that the prior alone determines has no noise, so the parts cannot disagree about it,
// however small the rounding error of its shift. The other direction counts as without it.
TEST(RecordingPartComparison, OmitsDirectionsOfPriorsFromTheShift) {
  const auto agreement = [](double rounding) {
    std::vector<RecordingPartScore> parts;
    for (const double reading : {1.0, -0.5}) {
      const Eigen::MatrixXd H = Eigen::Vector2d(1.0, 1e-15).asDiagonal();
      parts.push_back({Eigen::Vector2d(reading, rounding), H, H});
    }
    const Eigen::MatrixXd prior = Eigen::Vector2d(0.0, 1.0).asDiagonal();
    return compare_part_scores(parts, prior, Eigen::Vector2d::Zero(), true).agreement;
  };
  const ConsistencyTest exact = agreement(0.0), rounded = agreement(1e-6);
  EXPECT_EQ(exact.degrees_of_freedom, 2.0);
  EXPECT_EQ(rounded.degrees_of_freedom, 2.0);
  EXPECT_NEAR(exact.statistic, 1.125 + 0.125, 1e-12);
  EXPECT_NEAR(rounded.statistic, exact.statistic, 1e-9);
}

// Values from statistical tables.
TEST(Distributions, AgreeWithTables) {
  EXPECT_NEAR(chi_square_tail_probability(3.841459, 1.0), 0.05, 1e-7);
  EXPECT_NEAR(chi_square_tail_probability(18.307038, 10.0), 0.05, 1e-8);
  EXPECT_NEAR(chi_square_tail_probability(3.940299, 10.0), 0.95, 1e-7);
  EXPECT_NEAR(chi_square_tail_probability(149.4493, 100.0), 1e-3, 1e-7);
  EXPECT_NEAR(chi_square_tail_probability(2.0, 2.0), std::exp(-1.0), 1e-14);
  EXPECT_EQ(chi_square_tail_probability(0.0, 3.0), 1.0);
  EXPECT_LT(chi_square_tail_probability(1e5, 60.0), 1e-300);
  EXPECT_TRUE(std::isnan(chi_square_tail_probability(NAN, 3.0)) &&
              std::isnan(chi_square_tail_probability(1.0, NAN)));
  EXPECT_NEAR(student_t_half_width_95(1.0), 12.7062, 1e-4);
  EXPECT_NEAR(student_t_half_width_95(7.0), 2.36462, 1e-5);
  EXPECT_NEAR(student_t_half_width_95(1000.0), 1.96234, 1e-5);
}

}  // namespace
}  // namespace estimator
