#include "estimator/diagnostics/repair/suspected_jump.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "estimator/fit/physical/shooting_fit.hpp"
#include "estimator/fit/physical/shooting_input.hpp"
#include "tests/estimator/diagnostics/made_up_motion.hpp"
#include "tests/support/mechanisms/reference_rigs.hpp"

namespace estimator {
namespace {

using namespace test_support;

constexpr double kSidesPeriod = 4e-3;  // [s]
constexpr int kSidesRows = 1000;
constexpr double kSidesNoise = 1e-4;  // [rad]

/// A swing whose encoder slips by `slip` at a row.
Recording slipping(const ReferencePendulum& rig, const std::string& name, int row, double slip) {
  Eigen::VectorXd angles =
      as_read(test_support::simulate(rig, {1.5, 0.0}, kSidesPeriod, kSidesRows).col(0), kSidesNoise,
              0.0, 3);
  angles.tail(angles.size() - row).array() += slip;
  return {name, {segment_of(angles, 1.0 / kSidesPeriod)}};
}

Mechanism described_swing(const ReferencePendulum& rig) {
  return freed(pendulum_of(rig), {"P.J_zz", "1.b"});
}

// A model that fits one side of the slip is enough, wherever it lies, also with other recordings.
TEST(SingleJumpPlausibility, AcceptsAModelThatFitsOneSide) {
  const ReferencePendulum rig{.b = 1e-3};
  const Mechanism mechanism = described_swing(rig);
  for (const int row : {kSidesRows / 5, 4 * kSidesRows / 5}) {
    for (const double slip : {0.02, -0.02}) {
      EXPECT_TRUE(is_single_jump_plausible(mechanism, {slipping(rig, "slips", row, slip)}, {}))
          << row;
      EXPECT_TRUE(is_single_jump_plausible(
          mechanism, {slipping(rig, "clean", 0, 0.0), slipping(rig, "slips", row, slip)}, {}));
    }
  }
}

// A model error throughout is no jump, and a jump in one recording does not explain another.
TEST(SingleJumpPlausibility, RejectsAnotherFrictionLaw) {
  const ReferencePendulum rig{.b = 1e-3};
  ReferencePendulum dry = rig;
  dry.tau_c = dry.tau_s = 0.02;  // it still swings at the end
  const Mechanism mechanism = described_swing(rig);
  EXPECT_FALSE(is_single_jump_plausible(mechanism, {slipping(dry, "dry", 0, 0.0)}, {}));
  EXPECT_FALSE(is_single_jump_plausible(
      mechanism, {slipping(rig, "clean", 0, 0.0), slipping(dry, "dry", 0, 0.0)}, {}));
}

constexpr int kLossRow = 700;
constexpr double kScorePeriod = 4e-3;  // [s]

Mechanism scored_description() { return free_furuta(viscous_furuta(), 1.05); }

/// Driven by two sines, without `lost` rows from `row` on. A negative number repeats rows.
Recording with_rows_lost(int lost, int row = kLossRow) {
  Recording recording = record(viscous_furuta(), {0.2, 0.5, 0.0, 0.0},
                               two_sines(1500, kScorePeriod), kScorePeriod, 1e-4, 5);
  Segment& segment = recording.segments[0];
  const int rows = segment.sample_count() - std::abs(lost);
  for (Eigen::MatrixXd* const of : {&segment.angles, &segment.controls}) {
    const Eigen::MatrixXd all = *of;
    of->resize(rows, all.cols());
    for (int k = 0; k < rows; ++k) of->row(k) = all.row(k < row ? k : k + lost);
  }
  return recording;
}

std::optional<LostTimeScore> scored(const Recording& recording) {
  const Mechanism mechanism = scored_description();
  ShootingFit fit(prepare_shooting_input(mechanism, {recording}, {}), {}, {});
  fit.estimate_jointly(mechanism);
  const ShootingInput& input = fit.input();
  return find_likeliest_lost_time(fit.joint_problem(), input.segments, input.grid);
}

// Losses of one and of three rows of 4 ms, at a node of the fit and between two, are found at their
// row. Repeated rows and a complete recording give none.
TEST(LostTimeScores, LocateLostTime) {
  constexpr double kSure = 30.0;
  const std::optional<LostTimeScore> whole = scored(with_rows_lost(0));
  EXPECT_TRUE(!whole || whole->gain < kSure);
  for (const int row : {700, 721}) {
    for (const int rows : {1, 3}) {
      SCOPED_TRACE(testing::Message() << row << " " << rows);
      const std::optional<LostTimeScore> lost = scored(with_rows_lost(rows, row));
      ASSERT_TRUE(lost);
      EXPECT_NEAR(lost->row, row, 1);
      EXPECT_NEAR(lost->rows, rows, 0.3 * rows);
      EXPECT_GT(lost->gain, kSure);
      const std::optional<LostTimeScore> twice = scored(with_rows_lost(-rows, row));
      EXPECT_TRUE(!twice || std::abs(twice->row - row) > 1);
    }
  }
}

// A cut for lost time is tried where it explains most, and at the likeliest slip; nowhere in a
// recording without either.
TEST(LostTimeScores, ProposeCuts) {
  const auto suspected = [](const Recording& recording) {
    return find_likeliest_jump(scored_description(), {recording}, {}, {});
  };
  const SuspectedJump none = suspected(with_rows_lost(0));
  EXPECT_TRUE(none.lost_times.empty());
  EXPECT_FALSE(none.slip.needs_repair());
  const SuspectedJump lost = suspected(with_rows_lost(1));
  ASSERT_FALSE(lost.lost_times.empty());
  EXPECT_NEAR(lost.lost_times[0].row, kLossRow, 1);
  for (const double size : {5e-4, -5e-4}) {
    Recording slipped = with_rows_lost(0);
    slipped.segments[0].angles.col(1).tail(1501 - kLossRow).array() += size;
    const SuspectedJump slip = suspected(slipped);
    ASSERT_EQ(slip.slip.freed.size(), 1U) << size;
    EXPECT_EQ(slip.lost_times.back().row, slip.slip.freed[0].row) << size;
  }
}

}  // namespace
}  // namespace estimator
