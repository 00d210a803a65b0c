#include "estimator/doctor/slip_scores.hpp"

#include <gtest/gtest.h>

#include <optional>

#include "estimator/calibrate/shooting_fit.hpp"
#include "estimator/calibrate/shooting_input.hpp"
#include "estimator/doctor/slip_trial.hpp"
#include "tests/estimator/calibrate/reference_recording.hpp"

namespace {

using estimator::Mechanism;
using estimator::Recording;
using estimator::ShootingFit;
using estimator::SlipScore;
using test_support::ReferenceFuruta;

constexpr int kLossRow = 700;
constexpr double kScorePeriod = 4e-3;  // [s]

ReferenceFuruta scored_rig() {
  ReferenceFuruta rig;
  rig.b_1 = 2e-3;
  rig.b_2 = 2e-4;
  rig.K = 0.07;
  return rig;
}

Mechanism scored_description() {
  Mechanism mechanism = test_support::mechanism_of(scored_rig());
  test_support::free_parameters(mechanism, {"A.J_zz", "B.J_yy", "1.b", "2.b", "1.K"}, 1.05);
  return mechanism;
}

/// Driven by two sines, without `lost` rows from kLossRow on; less than none: that many come twice.
Recording with_rows_lost(int lost) {
  Eigen::VectorXd u(1500);
  for (Eigen::Index k = 0; k < u.size(); ++k) {
    const double t = kScorePeriod * static_cast<double>(k);
    u[k] = 1.5 * (std::sin(3.0 * t) + std::sin(11.3 * t + 1.0));
  }
  Recording recording =
      test_support::record(scored_rig(), {0.2, 0.5, 0.0, 0.0}, u, kScorePeriod, 1e-4, 5);
  estimator::Segment& segment = recording.segments[0];
  const int rows = segment.sample_count() - std::abs(lost);
  for (Eigen::MatrixXd* const of : {&segment.angles, &segment.controls}) {
    const Eigen::MatrixXd all = *of;
    of->resize(rows, all.cols());
    for (int k = 0; k < rows; ++k) of->row(k) = all.row(k < kLossRow ? k : k + lost);
  }
  return recording;
}

struct Scored {
  std::optional<SlipScore> lost, slip;
};

Scored scored(const Recording& recording) {
  const Mechanism mechanism = scored_description();
  ShootingFit fit(estimator::prepare_shooting(mechanism, {recording}, {}), {}, {});
  fit.estimate_jointly(mechanism);
  const estimator::ShootingInput& input = fit.input();
  return {estimator::likeliest_lost_time(fit.joint(), input.segments, input.sources, input.grid),
          estimator::likeliest_slip(fit.joint(), input.segments, input.sources, input.grid)};
}

// One row of 4 ms, and three: told at the row, by more than any single encoder's slip gains. Rows
// that come twice are no lost time there, and where nothing is lost nothing is.
TEST(SlipScores, TellWhereTimeIsLost) {
  const Scored whole = scored(with_rows_lost(0));
  for (const int rows : {1, 3}) {
    SCOPED_TRACE(rows);
    const Scored lossy = scored(with_rows_lost(rows));
    ASSERT_TRUE(lossy.lost);
    EXPECT_NEAR(lossy.lost->row, kLossRow, 1);
    EXPECT_NEAR(lossy.lost->size, rows, 0.3 * rows);
    ASSERT_TRUE(lossy.slip);
    EXPECT_GT(lossy.lost->gain, lossy.slip->gain);
    if (whole.lost) {
      EXPECT_LT(whole.lost->gain, 0.1 * lossy.lost->gain);
    }
    const Scored twice = scored(with_rows_lost(-rows));
    if (twice.lost) {
      EXPECT_GT(std::abs(twice.lost->row - kLossRow), 1);
      EXPECT_LT(twice.lost->gain, 0.5 * lossy.lost->gain);
    }
  }
}

// A cut for lost time is tried where lost time gains most, and then where the likeliest slip is.
TEST(SlipScores, NameThePlacesOfCuts) {
  const estimator::SuspectedJump jump =
      estimator::suspect_jump(scored_description(), {with_rows_lost(1)}, {}, {});
  ASSERT_FALSE(jump.losses.empty());
  EXPECT_NEAR(jump.losses[0].row, kLossRow, 1);
  ASSERT_EQ(jump.slip.freed.size(), 1U);
  const int slip = jump.slip.freed[0].row;
  ASSERT_EQ(jump.losses.size(), slip == jump.losses[0].row ? 1U : 2U);
  EXPECT_EQ(jump.losses.back().row, slip);
}

}  // namespace
