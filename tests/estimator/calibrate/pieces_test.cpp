#include <gtest/gtest.h>

#include <atomic>
#include <cmath>

#include "estimator/assessment/model_test/part_comparison.hpp"
#include "estimator/calibrate/calibrate.hpp"
#include "service/messages/message_text.hpp"
#include "tests/support/mechanisms/reference_rigs.hpp"

namespace estimator {
namespace {

using namespace test_support;

constexpr double kNoise = 1e-3;   // [rad]
constexpr double kPeriod = 2e-3;  // [s]
constexpr int kSamples = 4000;

ReferenceFuruta rig() { return {.b_1 = 1e-3, .b_2 = 2e-4, .K = 0.07}; }

/// @param stretch  factor on the arm's length in the description
Calibration calibrate_with(double stretch, const CalibrationOptions& options = {},
                           const CalibrationMonitor& monitor = {}) {
  const Recording recording = record(rig(), Eigen::Vector4d(0.0, 0.3, 0.0, 0.0),
                                     three_sines(kSamples, kPeriod), kPeriod, kNoise, 4);
  ReferenceFuruta described = rig();
  described.L_arm *= stretch;
  Mechanism mechanism = mechanism_of(described);
  free_parameters(mechanism, {"A.J_zz", "B.J_yy", "B.J_zz", "1.b", "2.b", "1.K"}, 1.5);
  return calibrate(mechanism, {recording}, options, monitor);
}

// If the model is correct, the comparison changes nothing: all parts agree, and standard deviations
// are due to noise. The deviations due to scatter are reported too.
TEST(RecordingPartEstimates, AgreeForACorrectModel) {
  const Calibration result = calibrate_with(1.0);
  ASSERT_TRUE(result.refined && result.converged());
  EXPECT_GE(result.parts.size(), 6U);
  EXPECT_LE(result.parts.size(), 12U);
  EXPECT_GT(result.agreement.p_value, 0.01);
  EXPECT_EQ(result.verdict.kind, VerdictKind::kAccepted) << service::format_verdict(result.verdict);
  for (const ParameterEstimate& estimate : result.parameters) {
    EXPECT_EQ(estimate.standard_deviation, estimate.noise_deviation) << estimate.name;
    EXPECT_GT(estimate.scatter_deviation, 0.0) << estimate.name;
  }
  // Each part agrees within its own standard deviations: 48 estimates, none beyond five.
  for (const RecordingPartEstimate& part : result.parts) {
    for (Eigen::Index i = 0; i < part.values.size(); ++i) {
      if (std::isnan(part.values[i])) continue;
      const double off = part.values[i] - result.parameters[static_cast<std::size_t>(i)].value;
      EXPECT_LT(std::abs(off), 5.0 * part.standard_deviations[i]) << "part of " << part.from;
    }
  }
}

// An arm described 3 % too long distorts all parts alike. All parts agree and no standard deviation
// grows, so the verdict must report the error. The estimates are the same as without the
// comparison.
TEST(RecordingPartEstimates, DisagreeForAnArmThatIsTooLong) {
  const Calibration result = calibrate_with(1.03);
  EXPECT_EQ(result.verdict.kind, VerdictKind::kApproximate)
      << service::format_verdict(result.verdict);
  CalibrationOptions alone;
  alone.compare_parts = false;
  const Calibration without = calibrate_with(1.03, alone);
  EXPECT_TRUE(without.parts.empty());
  for (std::size_t i = 0; i < result.parameters.size(); ++i) {
    EXPECT_EQ(result.parameters[i].value, without.parameters[i].value);
    EXPECT_EQ(result.parameters[i].noise_deviation, without.parameters[i].standard_deviation);
  }
}

// A stop during the comparison must not leave a result that looks complete.
TEST(RecordingPartEstimates, StopOnRequest) {
  std::atomic<bool> stop = false;
  CalibrationMonitor monitor;
  monitor.stop = &stop;
  monitor.on_stage = [&](const FitStage& stage, const Mechanism&) {
    if (stage.stage == EstimationStage::kPartComparison) stop = true;
  };
  const Calibration result = calibrate_with(1.0, {}, monitor);
  ASSERT_TRUE(stop.load());
  EXPECT_EQ(result.refinement_termination, Termination::kCancelled);
  EXPECT_FALSE(result.converged());
  EXPECT_TRUE(result.parts.empty());
}

// Parts disagree about one of two parameters. Its standard deviation becomes the scatter, and its
// half-width uses Student's factor for the number of parts that identify it, minus one. The other
// parameter is unchanged.
TEST(RecordingPartEstimates, WidenTheIntervalsOfDisagreeingParameters) {
  RecordingPartEstimates parts;
  parts.parameters = {7, 3};
  parts.comparison.agreement = {50.0, 6.0, 1e-8};
  parts.comparison.effective_part_count = Eigen::VectorXd::Constant(2, 8.0);
  parts.comparison.scatter = Eigen::Vector2d(9.0, 0.25).asDiagonal();
  ParameterUncertainty uncertainty;
  uncertainty.standard_deviation = Eigen::VectorXd::Ones(2);
  uncertainty.half_interval = kNormalHalfWidth95 * uncertainty.standard_deviation;
  uncertainty.covariance = (Eigen::MatrixXd(2, 2) << 1.0, 0.5, 0.5, 1.0).finished();
  uncertainty.noise_covariance = uncertainty.covariance;
  uncertainty.noise_deviation = uncertainty.standard_deviation;
  uncertainty.scatter_deviation = Eigen::VectorXd::Constant(2, NAN);
  ParameterUncertainty agreeing = uncertainty;
  inflate_uncertainty_for_scatter(parts, {3, 7}, uncertainty);
  EXPECT_EQ(uncertainty.standard_deviation[1], 3.0);
  EXPECT_NEAR(uncertainty.half_interval[1], 3.0 * 2.36462, 1e-4);
  EXPECT_EQ(uncertainty.standard_deviation[0], 1.0);
  EXPECT_EQ(uncertainty.scatter_deviation[0], 0.5);
  EXPECT_EQ(uncertainty.half_interval[0], kNormalHalfWidth95);
  EXPECT_NEAR(uncertainty.covariance(1, 1), 9.0, 1e-12);
  EXPECT_NEAR(uncertainty.covariance(0, 1), 1.5, 1e-12);
  EXPECT_EQ(uncertainty.noise_deviation[1], 1.0);

  parts.comparison.agreement.p_value = 0.02;
  inflate_uncertainty_for_scatter(parts, {3, 7}, agreeing);
  EXPECT_EQ(agreeing.standard_deviation[1], 1.0);
  EXPECT_EQ(agreeing.scatter_deviation[1], 3.0);
  EXPECT_EQ(agreeing.half_interval[1], kNormalHalfWidth95);
}

// The pendulum's encoder slips at 5.2 s and at 10.8 s. A part entirely on one side of a slip does
// not identify the slip, and must not report an estimate that other parts determine.
TEST(RecordingPartEstimates, ReportOnlySlipsWithinThePart) {
  constexpr int kRows = 2 * kSamples, kFirst = 2600, kSecond = 5400, kNear = 100, kSparse = 1000;
  const Eigen::VectorXd once = three_sines(kSamples, kPeriod);
  const Eigen::VectorXd control = (Eigen::VectorXd(kRows) << once, once).finished();
  Recording recording =
      record(rig(), Eigen::Vector4d(0.0, 0.3, 0.0, 0.0), control, kPeriod, kNoise, 4);
  Mechanism mechanism = mechanism_of(rig());
  free_parameters(mechanism, {"B.J_yy", "2.b", "2.offset"}, 1.5);
  Segment& segment = recording.segments.front();
  const auto slip = [&](const char* name, int row, double size) {
    add_slip(mechanism, segment, 1, row, 0.0, name);
    segment.angles.col(1).bottomRows(kRows - row).array() += size;
  };
  slip("early slip", kFirst, 0.02);
  slip("late slip", kSecond, -0.01);
  for (int k = 0; k < kRows; ++k) {
    const bool near = k > kFirst - kNear && k < kSecond + kNear;
    if (!near && k % kSparse != 0) segment.angles(k, 1) = NAN;
  }
  const Calibration result = calibrate(mechanism, {recording}, {}, {});
  ASSERT_TRUE(result.converged());
  ASSERT_GE(result.parts.size(), 6U);
  const auto reported = [&](std::size_t parameter, double row) {
    int count = 0;
    for (const RecordingPartEstimate& part : result.parts) {
      const auto at = static_cast<Eigen::Index>(parameter);
      const bool identifies = std::isfinite(part.values[at]);
      EXPECT_EQ(identifies, std::isfinite(part.standard_deviations[at]));
      const bool holds = part.from < kPeriod * row && part.to > kPeriod * row;
      EXPECT_TRUE(holds || !identifies || row < 0) << parameter << " from " << part.from << " s on";
      count += identifies;
    }
    return count;
  };
  ASSERT_EQ(result.parameters.size(), 5U);
  EXPECT_NEAR(result.parameters[3].value, 0.02, 2e-3);
  EXPECT_NEAR(result.parameters[4].value, -0.01, 2e-3);
  EXPECT_GE(reported(0, -1), 6);
  EXPECT_EQ(reported(3, kFirst), 1);
  EXPECT_EQ(reported(4, kSecond), 1);
}

}  // namespace
}  // namespace estimator
