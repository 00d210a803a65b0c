#include <gtest/gtest.h>

#include <random>
#include <stdexcept>

#include "estimator/calibrate/calibrate.hpp"
#include "estimator/signal/noise_level.hpp"
#include "tests/support/mechanisms/reference_rigs.hpp"
#include "tests/support/not_a_number.hpp"
#include "tests/support/refusal.hpp"

// Irregular recordings: jitter of the time stamps, missing rows, an encoder that slips.

namespace estimator {
namespace {

using namespace test_support;

constexpr double kIrregularPeriod = 1e-3;
constexpr double kIrregularNoise = 5e-4;

/// The command changes at few instants, so it is known from any subset of rows.
Recording driven() {
  Eigen::VectorXd u(3000);
  for (Eigen::Index k = 0; k < u.size(); ++k) u[k] = (k / 500) % 2 == 0 ? 0.8 : -0.8;
  Recording recording = record(viscous_furuta(), Eigen::Vector4d(0.1, 1.0, 0.0, 0.0), u,
                               kIrregularPeriod, kIrregularNoise, 4);
  recording.name = "driven";
  return recording;
}

Mechanism to_fit() {
  Mechanism mechanism = mechanism_of(viscous_furuta());
  free_parameters(mechanism, {"B.J_yy", "1.b", "2.b", "1.K"}, 1.2);
  return mechanism;
}

bool is_fixed(Eigen::Index k, std::mt19937& random) {
  return k % 500 == 0 || std::bernoulli_distribution(0.4)(random);
}

/// Keeps some rows, with their times.
Recording thinned(const Recording& whole) {
  std::mt19937 random(8);
  const Segment& from = whole.segments.front();
  std::vector<int> rows;
  for (int k = 0; k < from.sample_count(); ++k) {
    if (is_fixed(k, random)) rows.push_back(k);
  }
  Recording thin{whole.name, {segment_rows(from, 0, static_cast<int>(rows.size()))}};
  Segment& segment = thin.segments.front();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    segment.angles.row(static_cast<Eigen::Index>(i)) = from.angles.row(rows[i]);
    segment.controls.row(static_cast<Eigen::Index>(i)) = from.controls.row(rows[i]);
    segment.times.push_back(from.time(rows[i]));
  }
  segment.period = segment.times.back() / static_cast<double>(rows.size() - 1);
  return thin;
}

/// All rows; those not kept have no readings.
Recording emptied(Recording recording) {
  std::mt19937 random(8);
  Segment& segment = recording.segments.front();
  for (Eigen::Index k = 0; k < segment.angles.rows(); ++k) {
    if (!is_fixed(k, random)) segment.angles.row(k).setConstant(kNaN);
  }
  return recording;
}

// The same readings at the same instants give the same result, with omitted or with empty rows.
TEST(IrregularTimes, AreEquivalentToEmptyRows) {
  const Recording whole = driven();
  const Calibration thin = calibrate(to_fit(), {thinned(whole)});
  const Calibration empty = calibrate(to_fit(), {emptied(whole)});
  ASSERT_TRUE(thin.converged() && empty.converged());
  ASSERT_TRUE(thin.refined && empty.refined);
  for (std::size_t i = 0; i < thin.parameters.size(); ++i) {
    const ParameterEstimate& own = thin.parameters[i];
    const ParameterEstimate& other = empty.parameters[i];
    EXPECT_NEAR(own.value, other.value, 0.05 * other.standard_deviation) << own.name;
    EXPECT_NEAR(own.standard_deviation, other.standard_deviation, 0.2 * other.standard_deviation)
        << own.name;
  }
  EXPECT_EQ(thin.trajectories.front().time(1), thinned(whole).segments.front().time(1));
}

// Missing rows cost only the information of their readings.
TEST(IrregularTimes, CostLittlePrecisionIfFewSamplesAreMissing) {
  const Recording whole = driven();
  Recording holed = whole;
  std::mt19937 random(3);
  Segment& segment = holed.segments.front();
  for (Eigen::Index k = 1; k < segment.angles.rows(); ++k) {
    if (std::bernoulli_distribution(0.05)(random)) segment.angles.row(k).setConstant(kNaN);
  }
  const Calibration all = calibrate(to_fit(), {whole});
  const Calibration most = calibrate(to_fit(), {holed});
  for (std::size_t i = 0; i < all.parameters.size(); ++i) {
    EXPECT_LT(most.parameters[i].standard_deviation, 1.2 * all.parameters[i].standard_deviation);
    EXPECT_NEAR(most.parameters[i].value, all.parameters[i].value,
                all.parameters[i].standard_deviation);
  }
}

TEST(IrregularTimes, MustIncrease) {
  for (const double wrong : {0.0, -1e-3, kNaN}) {
    Recording recording = thinned(driven());
    recording.segments.front().times[5] = recording.segments.front().times[4] + wrong;
    EXPECT_THROW(calibrate(to_fit(), {recording}), std::invalid_argument) << wrong;
  }
  Recording few = thinned(driven());
  few.segments.front().times.pop_back();
  EXPECT_THROW(calibrate(to_fit(), {few}), std::invalid_argument);
}

TEST(IrregularTimes, AreRejectedForShadowParameters) {
  CalibrationOptions options;
  options.kind = EstimateKind::kShadow;
  options.start_from_physical = false;
  expect_parts(
      refusal<std::invalid_argument>([&] { calibrate(to_fit(), {thinned(driven())}, options); }),
      {"jitter_tolerance"});
}

// The noise level of readings, with motion between irregular instants.
TEST(IrregularTimes, DoNotAffectTheNoiseLevel) {
  const Recording recording = thinned(driven());
  const Segment& segment = recording.segments.front();
  for (const Eigen::Index sensor : {0, 1}) {
    EXPECT_NEAR(estimate_noise_level(segment, sensor), kIrregularNoise, 0.1 * kIrregularNoise);
    EXPECT_GT(estimate_noise_level(segment.angles.col(sensor)), 2.0 * kIrregularNoise);
  }
}

/// Adds a parameter for a shift of the second encoder's readings from row 1200 on.
Mechanism with_shift(Mechanism mechanism, Recording& recording, double start) {
  add_slip(mechanism, recording.segments.front(), 1, 1200, start);
  return mechanism;
}

// The size of a slip in either direction is estimated, and the other parameters are not affected.
TEST(EncoderSlips, AreEstimatedWithTheOtherParameters) {
  const Recording whole = driven();
  const Calibration clean = calibrate(to_fit(), {whole});
  for (const double slip : {0.015, -0.4}) {
    Recording slipped = whole;
    slipped.segments.front().angles.col(1).tail(1800).array() += slip;
    const Mechanism mechanism = with_shift(to_fit(), slipped, 0.9 * slip);
    const Calibration calibration = calibrate(mechanism, {slipped});
    ASSERT_TRUE(calibration.converged());
    const ParameterEstimate& found = calibration.parameters.back();
    EXPECT_EQ(found.name, "slip");
    EXPECT_NEAR(found.value, slip, 3.0 * found.standard_deviation);
    EXPECT_LT(found.standard_deviation, kIrregularNoise);
    for (std::size_t i = 0; i < clean.parameters.size(); ++i) {
      const ParameterEstimate& own = calibration.parameters[i];
      EXPECT_NEAR(own.value, clean.parameters[i].value, own.standard_deviation) << own.name;
      EXPECT_LT(own.standard_deviation, 1.5 * clean.parameters[i].standard_deviation) << own.name;
    }
  }
}

TEST(EncoderSlips, AreSubtractedForShadowParameters) {
  const Recording whole = driven();
  CalibrationOptions options;
  options.kind = EstimateKind::kShadow;
  const Calibration clean = calibrate(to_fit(), {whole}, options);
  Recording slipped = whole;
  slipped.segments.front().angles.col(1).tail(1800).array() += 0.25;
  const Mechanism mechanism = with_shift(to_fit(), slipped, 0.25);
  const Calibration calibration = calibrate(mechanism, {slipped}, options);
  for (std::size_t i = 0; i < clean.parameters.size(); ++i) {
    EXPECT_NEAR(calibration.parameters[i].value, clean.parameters[i].value,
                0.2 * clean.parameters[i].standard_deviation);
  }
}

TEST(RowsOf, KeepTimesAndShifts) {
  Segment segment{.start = 2.0, .period = 0.1, .angles = Eigen::VectorXd::LinSpaced(6, 0.0, 5.0)};
  segment.controls = 2.0 * segment.angles;
  segment.held_out = 3.0 * segment.angles;
  segment.times = {0.0, 0.1, 0.25, 0.3, 0.4, 0.5};
  segment.shifts = {{0, 3, 7}, {0, 5, 8}};
  const Segment part = segment_rows(segment, 2, 3);
  EXPECT_DOUBLE_EQ(part.start, 2.25);
  EXPECT_EQ(part.angles, segment.angles.middleRows(2, 3));
  EXPECT_EQ(part.controls, segment.controls.middleRows(2, 3));
  EXPECT_EQ(part.held_out, segment.held_out.middleRows(2, 3));
  ASSERT_EQ(part.times.size(), 3U);
  EXPECT_NEAR(part.times[2], 0.15, 1e-15);
  ASSERT_EQ(part.shifts.size(), 1U);  // the other one occurs later
  EXPECT_EQ(part.shifts[0].sample, 1);
  EXPECT_EQ(segment_rows(segment, 4, 2).shifts[0].sample, 0);  // all rows are shifted
  EXPECT_EQ(segment.first_sample_at_or_after(0.25), 2);
  EXPECT_EQ(segment.first_sample_at_or_after(0.26), 3);
  EXPECT_EQ(segment.first_sample_at_or_after(0.6), 6);
  EXPECT_DOUBLE_EQ(segment.duration(), 0.5);
  segment.times.clear();
  EXPECT_NEAR(segment_rows(segment, 2, 3).start, 2.2, 1e-15);
  EXPECT_EQ(segment.first_sample_at_or_after(0.2), 2);
  EXPECT_EQ(segment.first_sample_at_or_after(0.21), 3);
  EXPECT_EQ(segment.first_sample_at_or_after(9.0), 6);
}

}  // namespace
}  // namespace estimator
