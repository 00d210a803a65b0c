#include "estimator/diagnostics/jumps/outliers_and_steps.hpp"

#include <gtest/gtest.h>

#include "estimator/diagnostics/jumps/jump_cause.hpp"
#include "tests/estimator/diagnostics/made_up_motion.hpp"

namespace estimator {
namespace {

using namespace test_support;

constexpr double kCount = 2.0 * M_PI / 4096.0;
constexpr double kRate = 1000.0;

struct Look {
  explicit Look(const Eigen::VectorXd& readings, double rate = kRate,
                SeriesKind kind = SeriesKind::kMotion, double count = -1.0) {
    const Segment segment = segment_of(readings, rate);
    series = collect_observed_readings(segment, segment.angles.col(0), true);
    quantum = count >= 0.0 ? count : find_robust_quantization_step({series}, 1.0);
    const NoiseScale scale(series, quantum);
    steps = find_reading_steps(series, scale, kind, 1.0);
    noise = std::max({scale.noise(series.size() / 2), quantum / std::sqrt(12.0), 1e-7});
  }
  ReadingsAroundJump view(int row, bool jumps) const {
    return {
        .series = &series, .noise = noise, .jumps = jumps, .position = series.index_at_row(row)};
  }
  int row(std::size_t step) const { return series.rows[steps[step].position]; }

  ReadingSeries series;
  std::vector<ReadingStep> steps;
  double quantum = 0.0, noise = 0.0;
};

/// Output of a logger that loses `lost` samples before row `at`.
Eigen::VectorXd without(const Eigen::VectorXd& readings, int at, int lost) {
  Eigen::VectorXd rest(readings.size() - lost);
  rest << readings.head(at), readings.tail(readings.size() - lost - at);
  return rest;
}

// No kink, impact or quantization step of a motion is reported as a step.
TEST(ReadingSteps, AreNotReportedAtKinksAndImpacts) {
  for_each_clean_motion({50.0, 250.0, 1000.0}, [](const Eigen::VectorXd& readings, double rate) {
    EXPECT_TRUE(Look(readings, rate).steps.empty());
  });
}

// Steps of ten counts in either direction, in motion and at rest, also beside missing readings, are
// found with the exact sample and to one count.
TEST(ReadingSteps, AreFoundWithTheirTimeAndSize) {
  const Eigen::VectorXd motion = as_read(MadeUpMotion{}.angles(kRate, 4000, 5), 0.0, kCount, 5);
  for (const int row : {300, 1500, 3900}) {
    for (const double counts : {10.0, -10.0}) {
      for (const bool missing : {false, true}) {
        SCOPED_TRACE(testing::Message() << row << ": " << counts << (missing ? ", holes" : ""));
        Eigen::VectorXd readings = motion;
        readings.tail(4000 - row).array() += counts * kCount;
        if (missing) {
          for (const int beside : {-7, -3, 2, 6}) {
            readings[row + beside] = std::numeric_limits<double>::quiet_NaN();
          }
        }
        const Look look(readings);
        ASSERT_EQ(look.steps.size(), 1U);
        EXPECT_EQ(look.row(0), row);
        const JumpExplanation explained = classify_jump({look.view(row, true)});
        EXPECT_NEAR(explained.sizes[0], counts * kCount, kCount);
      }
    }
  }
}

// Readings that return to the motion after at most five rows are outliers, whether they repeat one
// value or are displaced by one amount. The same displacement for good is a step.
TEST(ReadingSteps, StayDisplaced) {
  constexpr double kSlowRate = 200.0;
  MadeUpMotion swing;
  swing.push = 0.0;
  const Eigen::VectorXd motion = as_read(swing.angles(kSlowRate, 1600, 5), 5e-4, 0.0, 5);
  for (int first = 100; first < 1500; first += 87) {
    for (const double size : {0.06, -0.06, 0.3}) {
      for (const int count : {1, 2, 3, 4, 5}) {
        for (const bool repeats : {false, true}) {
          SCOPED_TRACE(testing::Message() << first << ": " << count << " by " << size);
          Eigen::VectorXd readings = motion;
          readings.segment(first, count).array() += size;
          if (repeats) readings.segment(first, count).setConstant(readings[first]);
          const Look look(readings, kSlowRate, SeriesKind::kMotion, 0.0);
          EXPECT_TRUE(look.steps.empty()) << look.row(0) << ": " << look.steps[0].size;
        }
      }
      Eigen::VectorXd readings = motion;
      readings.tail(1600 - first).array() += size;
      if (size < 0.2) continue;  // the acceleration explains smaller steps
      EXPECT_EQ(Look(readings, kSlowRate, SeriesKind::kMotion, 0.0).steps.size(), 1U) << first;
    }
  }
}

// Residuals of a model are noise, in which a long window finds a step of three standard deviations,
// and none if there is none.
TEST(ReadingSteps, AreFoundInResiduals) {
  int found = 0;
  for (unsigned seed = 0; seed < 20; ++seed) {
    Eigen::VectorXd left = as_read(Eigen::VectorXd::Zero(4000), 1e-3, 0.0, seed);
    EXPECT_TRUE(Look(left, kRate, SeriesKind::kResidual, 0.0).steps.empty()) << seed;
    left.tail(1700).array() += seed % 2 == 0 ? 4e-3 : -4e-3;
    const Look look(left, kRate, SeriesKind::kResidual, 0.0);
    ASSERT_LE(look.steps.size(), 1U);
    if (look.steps.size() == 1 && std::abs(look.row(0) - 2300) <= 5) ++found;
  }
  EXPECT_GE(found, 19);
}

/// A swing with enough acceleration to distinguish lost time from a slip.
Eigen::VectorXd swing(double start, double noise, unsigned seed) {
  MadeUpMotion motion;
  motion.push = motion.dry = 0.0;
  motion.start = start;
  return as_read(motion.angles(kRate, 1000, seed), noise, 0.0, seed);
}

// A slip does not change the speed, lost time does. If the motion is curved in either direction,
// one encoder distinguishes them.
TEST(JumpCause, IsIdentifiedByOneEncoderFromItsSpeed) {
  for (const double start : {1.5, -1.5}) {
    const Eigen::VectorXd motion = swing(start, 1e-5, 6);
    const Look lost(without(motion, 150, 8));
    ASSERT_EQ(lost.steps.size(), 1U);
    const JumpExplanation time = classify_jump({lost.view(lost.row(0), true)});
    EXPECT_EQ(time.cause, JumpCause::kLostTime);
    EXPECT_NEAR(time.lost_time, 8e-3, 3.0 * time.time_deviation + 1e-4);

    Eigen::VectorXd slipped = motion;
    slipped.tail(850).array() += lost.steps[0].size;  // an equally large jump
    const Look slip(slipped);
    ASSERT_EQ(slip.steps.size(), 1U);
    const JumpExplanation counts = classify_jump({slip.view(slip.row(0), true)});
    EXPECT_EQ(counts.cause, JumpCause::kSlip);
    EXPECT_NEAR(counts.sizes[0], lost.steps[0].size, 1e-3);
  }
}

// At constant speed the cause cannot be identified, and none is reported.
TEST(JumpCause, IsAmbiguousDuringConstantSpeed) {
  Eigen::VectorXd straight(1000);
  for (int k = 0; k < 1000; ++k) straight[k] = 5e-3 * k;
  straight = as_read(straight, 1e-4, 0.0, 7);
  const Look look(without(straight, 500, 8));
  ASSERT_EQ(look.steps.size(), 1U);
  const JumpExplanation explained = classify_jump({look.view(500, true)});
  EXPECT_EQ(explained.cause, JumpCause::kAmbiguous);
  EXPECT_NEAR(explained.lost_time, 8e-3, 1e-3);
  EXPECT_NEAR(explained.sizes[0], 0.04, 1e-3);
}

// Two encoders: lost time shifts both in proportion to their speeds, a slip only one.
TEST(JumpCause, IsIdentifiedBySeveralEncoders) {
  const Eigen::VectorXd one = swing(1.5, 1e-4, 8), other = swing(-0.7, 1e-4, 9);
  const Look lost_one(without(one, 180, 5)), lost_other(without(other, 180, 5));
  const JumpExplanation lost =
      classify_jump({lost_one.view(180, true), lost_other.view(180, !lost_other.steps.empty())});
  EXPECT_EQ(lost.cause, JumpCause::kLostTime);
  EXPECT_NEAR(lost.lost_time, 5e-3, 3e-4);

  Eigen::VectorXd slipped = one;
  slipped.tail(820).array() -= 0.05;
  const Look slip_one(slipped), still_other(other);
  ASSERT_EQ(slip_one.steps.size(), 1U);
  EXPECT_TRUE(still_other.steps.empty());
  const JumpExplanation slip =
      classify_jump({slip_one.view(180, true), still_other.view(180, false)});
  EXPECT_EQ(slip.cause, JumpCause::kSlip);
  EXPECT_NEAR(slip.sizes[0], -0.05, 1e-3);
  EXPECT_EQ(slip.sizes[1], 0.0);
}

// If another motion follows, time is lost or the motion was interrupted. Either way the recording
// is cut there, and no offset is reported.
TEST(JumpCause, IsABreakIfAnotherMotionFollows) {
  Eigen::VectorXd readings = swing(1.5, 1e-4, 10);
  readings.tail(500) = as_read(
      MadeUpMotion{.push = 0.0, .start = -1.0}.angles(kRate, 700, 1).tail(500), 1e-4, 0.0, 11);
  const Look look(readings);
  ASSERT_EQ(look.steps.size(), 1U);
  const JumpCause cause = classify_jump({look.view(look.row(0), true)}).cause;
  EXPECT_TRUE(cause == JumpCause::kBreak || cause == JumpCause::kLostTime);
}

}  // namespace
}  // namespace estimator
