#include "estimator/fit/physical/shooting_input.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace estimator {
namespace {

constexpr double kExcerptPeriod = 1e-2;

/// Segments whose readings and states equal their sample number.
ShootingInput numbered_segments(const std::vector<int>& counts) {
  ShootingInput input;
  for (const int samples : counts) {
    Segment segment;
    segment.period = kExcerptPeriod;
    segment.angles = Eigen::VectorXd::LinSpaced(samples, 0.0, samples - 1.0);
    segment.controls.resize(samples, 0);
    segment.is_first_of_recording = true;
    input.states.emplace_back(2, samples);
    input.states.back().row(0) = segment.angles.transpose();
    input.states.back().row(1).setZero();
    input.segments.push_back(std::move(segment));
    input.state_spacing.push_back(kExcerptPeriod);
  }
  return input;
}

int first_sample(const Segment& segment) { return static_cast<int>(segment.angles(0, 0)); }

TEST(Excerpt, ContainsTheWholeRecordingIfLittleWouldBeOmitted) {
  ShootingInput input = numbered_segments({1000, 1001});
  const Excerpt excerpt = select_excerpt(input, 10.0, 1.0);
  EXPECT_TRUE(excerpt.is_whole);
  ASSERT_EQ(excerpt.segments.size(), 2U);
  EXPECT_EQ(excerpt.segments[1].angles, input.segments[1].angles);
  EXPECT_EQ(excerpt.states[1], input.states[1]);
  EXPECT_FALSE(select_excerpt(input, 9.0, 1.0).is_whole);
}

// 60 s: ten windows of one second, the first after 2.95 s, with 5.9 s between their starts.
TEST(Excerpt, SpreadsWindowsEvenly) {
  ShootingInput input = numbered_segments({6001});
  const Excerpt excerpt = select_excerpt(input, 10.0, 1.0);
  EXPECT_FALSE(excerpt.is_whole);
  ASSERT_EQ(excerpt.segments.size(), 10U);
  for (std::size_t w = 0; w < 10; ++w) {
    const Segment& window = excerpt.segments[w];
    EXPECT_EQ(window.sample_count(), 101);
    EXPECT_FALSE(window.is_first_of_recording);
    EXPECT_NEAR(first_sample(window), 295.0 + 590.0 * static_cast<double>(w), 1.0);
    EXPECT_EQ(excerpt.states[w].row(0), window.angles.col(0).transpose());
    EXPECT_EQ(excerpt.state_spacing[w], kExcerptPeriod);
  }
}

// A load that occurs in a single short recording is identified by this recording only.
TEST(Excerpt, ContainsAPartOfEachSegment) {
  ShootingInput input = numbered_segments({6001, 51, 201});
  const Excerpt excerpt = select_excerpt(input, 10.0, 1.0);
  ASSERT_EQ(excerpt.segments.size(), 12U);
  EXPECT_EQ(excerpt.segments[10].angles, input.segments[1].angles) << "shorter than a window";
  EXPECT_TRUE(excerpt.segments[10].is_first_of_recording);
  EXPECT_EQ(first_sample(excerpt.segments[11]), 50) << "in the middle";
  EXPECT_EQ(excerpt.segments[11].sample_count(), 101);
}

// One window from each of thirty releases would include all their samples.
TEST(Excerpt, IncludesShortSegmentsCompletely) {
  const ShootingInput input = numbered_segments(std::vector<int>(30, 101));
  const Excerpt excerpt = select_excerpt(input, 10.0, 1.0);
  EXPECT_TRUE(excerpt.is_whole);
  EXPECT_EQ(excerpt.segments.size(), 30U);
}

// States are spaced by the mean period, samples by their own times.
TEST(Excerpt, AssignsStatesBySampleTimes) {
  ShootingInput input = numbered_segments({6001});
  for (int k = 0; k < 6001; ++k) {  // at half the rate in the first half
    input.segments[0].times.push_back(kExcerptPeriod * (k < 3000 ? 0.5 * k : 1.5 * k - 3000.0));
  }
  const Excerpt excerpt = select_excerpt(input, 10.0, 1.0);
  ASSERT_EQ(excerpt.segments.size(), 10U);
  for (std::size_t w : {0U, 9U}) {
    const double begin = excerpt.segments[w].start;
    EXPECT_NEAR(excerpt.states[w](0, 0), begin / kExcerptPeriod, 1.0);
    EXPECT_NEAR(static_cast<double>(excerpt.states[w].cols()), 101.0, 2.0);
  }
  EXPECT_EQ(excerpt.segments[0].sample_count(), 201);
}

TEST(Excerpt, KeepsTheIntegrationStepsOfItsWindows) {
  ShootingInput input = numbered_segments({6001});
  std::vector<double> steps(301, 0.004);
  for (std::size_t k = 150; k < steps.size(); ++k) steps[k] = 0.001;  // from 30 s on
  input.grid.local_steps = {steps};
  const Excerpt excerpt = select_excerpt(input, 10.0, 1.0);
  ASSERT_EQ(excerpt.local_steps.size(), 10U);
  EXPECT_EQ(excerpt.local_steps[4].front(), 0.004) << "26.55 s";
  EXPECT_EQ(excerpt.local_steps[5].front(), 0.001) << "32.45 s";
}

}  // namespace
}  // namespace estimator
