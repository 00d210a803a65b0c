#include <gtest/gtest.h>

#include <Eigen/Geometry>
#include <cmath>
#include <string>

#include "estimator/calibrate/calibration.hpp"
#include "estimator/calibrate/piece_cuts.hpp"
#include "tests/estimator/calibrate/reference_recording.hpp"

namespace estimator {
namespace {

using test_support::ReferenceFuruta;

constexpr double kNoise = 1e-3;   // [rad]
constexpr double kPeriod = 2e-3;  // [s]
constexpr int kSamples = 4000;

ReferenceFuruta rig() {
  ReferenceFuruta rig;
  rig.b_1 = 1e-3;
  rig.b_2 = 2e-4;
  rig.K = 0.07;
  return rig;
}

/// A sum of sines that keeps arm and pendulum swinging.
Eigen::VectorXd excitation() {
  return Eigen::VectorXd::NullaryExpr(kSamples, [](Eigen::Index k) {
    const double t = kPeriod * static_cast<double>(k);
    return 1.2 * (std::sin(3.1 * t) + std::sin(7.3 * t + 1.0) + std::sin(11.9 * t + 2.0));
  });
}

/// @param stretch  of the arm, in the description alone
Calibration calibrate_with(double stretch, const CalibrationOptions& options = {}) {
  const Recording recording = test_support::record(rig(), Eigen::Vector4d(0.0, 0.3, 0.0, 0.0),
                                                   excitation(), kPeriod, kNoise, 4);
  ReferenceFuruta described = rig();
  described.L_arm *= stretch;
  Mechanism mechanism = test_support::mechanism_of(described);
  test_support::free_parameters(mechanism, {"A.J_zz", "B.J_yy", "B.J_zz", "1.b", "2.b", "1.K"},
                                1.5);
  return calibrate(mechanism, {recording}, options);
}

// Where the model is right nothing is paid for asking: pieces agree, deviations are those from
// noise, beside them those from the scatter.
TEST(Pieces, AgreeWhereTheModelIsRight) {
  const Calibration result = calibrate_with(1.0);
  ASSERT_TRUE(result.refined && result.converged());
  EXPECT_GE(result.pieces.size(), 6U);
  EXPECT_LE(result.pieces.size(), 12U);
  EXPECT_GT(result.agreement.p_value, 0.01);
  EXPECT_EQ(result.verdict.kind, VerdictKind::kHolds) << result.verdict.sentence;
  for (const ParameterEstimate& estimate : result.parameters) {
    EXPECT_EQ(estimate.standard_deviation, estimate.noise_deviation) << estimate.name;
    EXPECT_GT(estimate.scatter_deviation, 0.0) << estimate.name;
  }
  // Each piece says the same within its own deviations: 48 estimates, none beyond five.
  for (const PieceEstimate& piece : result.pieces) {
    for (Eigen::Index i = 0; i < piece.values.size(); ++i) {
      if (std::isnan(piece.values[i])) continue;
      const double off = piece.values[i] - result.parameters[static_cast<std::size_t>(i)].value;
      EXPECT_LT(std::abs(off), 5.0 * piece.standard_deviations[i]) << "piece of " << piece.from;
    }
  }
}

// An arm 3 % too long in the description: estimates stay as they are, but the first word is that
// the model does not hold, and where pieces disagree deviations grow.
TEST(Pieces, TellAnArmThatIsTooLong) {
  const Calibration result = calibrate_with(1.03);
  EXPECT_EQ(result.verdict.kind, VerdictKind::kDoesNotHold) << result.verdict.sentence;
  EXPECT_LT(result.agreement.p_value, 1e-4);
  CalibrationOptions alone;
  alone.compare_pieces = false;
  const Calibration without = calibrate_with(1.03, alone);
  EXPECT_TRUE(without.pieces.empty());
  double widest = 0.0;
  for (std::size_t i = 0; i < result.parameters.size(); ++i) {
    const ParameterEstimate &with = result.parameters[i], &before = without.parameters[i];
    EXPECT_EQ(with.value, before.value) << with.name;
    EXPECT_EQ(with.noise_deviation, before.standard_deviation) << with.name;
    EXPECT_GE(with.standard_deviation, with.noise_deviation) << with.name;
    EXPECT_GE(with.half_interval, kNormalHalfWidth95 * with.noise_deviation) << with.name;
    widest = std::max(widest, with.standard_deviation / with.noise_deviation);
    EXPECT_NEAR(
        std::sqrt(result.covariance(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(i))),
        with.standard_deviation, 1e-9 * with.standard_deviation);
  }
  EXPECT_GT(widest, 1.5);
}

// A segment's slice begins where its first row was, with everything that belongs to its rows.
TEST(Pieces, KeepWhatBelongsToTheirRows) {
  Segment segment;
  segment.start = 10.0;
  segment.period = 0.1;
  segment.angles = Eigen::VectorXd::LinSpaced(8, 0.0, 7.0);
  segment.controls = Eigen::VectorXd::LinSpaced(8, 7.0, 0.0);
  segment.times = {0.0, 0.1, 0.25, 0.3, 0.4, 0.5, 0.6, 0.7};
  segment.shifts = {{0, 1, 5}, {0, 4, 6}, {0, 7, 7}};
  const Segment part = slice(segment, 2, 6);
  EXPECT_EQ(part.start, 10.25);
  EXPECT_EQ(part.angles.rows(), 4);
  EXPECT_EQ(part.angles(0, 0), 2.0);
  EXPECT_EQ(part.controls(3, 0), 2.0);
  ASSERT_EQ(part.times.size(), 4U);
  EXPECT_NEAR(part.times[3], 0.25, 1e-15);
  ASSERT_EQ(part.shifts.size(), 2U);  // one from before, one within; the last came later
  EXPECT_EQ(part.shifts[0].sample, 0);
  EXPECT_EQ(part.shifts[1].sample, 2);
  segment.times.clear();
  EXPECT_NEAR(slice(segment, 2, 6).start, 10.2, 1e-15);
}

}  // namespace
}  // namespace estimator
