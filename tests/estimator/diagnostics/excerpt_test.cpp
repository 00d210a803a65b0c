#include "estimator/diagnostics/description/excerpt.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/mechanisms/example_mechanisms.hpp"

namespace estimator {
namespace {

constexpr ExcerptLimits kBudget = {.duration = 2.0, .piece = 1.0, .period = 0.01, .rows = 200};

/// 20 s at 1 kHz that move only from 12 s to 14 s.
Recording mostly_still() {
  Segment segment;
  segment.start = 5.0;
  segment.period = 1e-3;
  segment.angles = Eigen::MatrixXd::Constant(20000, 1, 0.1);
  segment.controls = Eigen::VectorXd::LinSpaced(20000, 0.0, 0.0);
  for (Eigen::Index k = 12000; k < 14000; ++k) {
    segment.angles(k, 0) += 0.5 * std::sin(1e-2 * static_cast<double>(k - 12000));
  }
  return {"still", {segment}};
}

Mechanism excerpt_pendulum() { return make_pendulum({.motorised = true}); }

// The excerpt has a bounded length, however long the recording, and lies where there is motion.
TEST(Excerpt, IsTheMostActivePartWithinTheLimits) {
  const auto excerpts = select_excerpts(excerpt_pendulum(), {mostly_still()}, kBudget);
  ASSERT_EQ(excerpts.size(), 1U);
  ASSERT_EQ(excerpts[0].segments.size(), 2U);
  EXPECT_DOUBLE_EQ(excerpts[0].segments[0].start, 17.0);
  EXPECT_DOUBLE_EQ(excerpts[0].segments[1].start, 18.0);
  for (const Segment& segment : excerpts[0].segments) {
    EXPECT_DOUBLE_EQ(segment.period, 0.01);
    EXPECT_EQ(segment.sample_count(), 100);
  }
}

// A control is held between rows. A row that replaces several has their mean.
TEST(Excerpt, AveragesControlsOverMergedSamples) {
  Recording recording = mostly_still();
  recording.segments[0].controls.col(0).setLinSpaced(0.0, 19999.0);
  const auto excerpts = select_excerpts(excerpt_pendulum(), {recording}, kBudget);
  const Segment& segment = excerpts[0].segments.back();
  const double first = 1e3 * (segment.start - 5.0);
  EXPECT_NEAR(segment.controls(0, 0), first + 4.5, 1e-9);
  EXPECT_NEAR(segment.controls(7, 0), first + 74.5, 1e-9);
}

// No rows are added: a slow recording keeps its own period and time stamps.
TEST(Excerpt, KeepsSampleTimes) {
  Segment segment;
  segment.period = 0.05;
  segment.angles = Eigen::MatrixXd::Random(40, 1);
  segment.controls = Eigen::MatrixXd::Zero(40, 1);
  for (int k = 0; k < 40; ++k) segment.times.push_back(0.05 * k + 1e-3 * (k % 3));
  const auto excerpts = select_excerpts(excerpt_pendulum(), {{"slow", {segment}}}, kBudget);
  const Segment& piece = excerpts[0].segments.back();
  ASSERT_EQ(static_cast<int>(piece.times.size()), piece.sample_count());
  EXPECT_DOUBLE_EQ(piece.period, 0.05);
  EXPECT_DOUBLE_EQ(piece.times[0], 0.0);
  EXPECT_NEAR(piece.times[4] - 0.2, 0.0, 2.1e-3);  // of the stamps' jitter
}

TEST(Excerpt, IsEmptyWithoutRecordings) {
  EXPECT_TRUE(select_excerpts(excerpt_pendulum(), {}, kBudget).empty());
}

}  // namespace
}  // namespace estimator
