#include "service/recordings/joined_segments.hpp"

#include <gtest/gtest.h>

namespace service {
namespace {

std::vector<estimator::Recording> recordings_with(const std::vector<double>& periods) {
  std::vector<estimator::Recording> recordings;
  for (const double period : periods) {
    estimator::Segment segment;
    segment.period = period;
    segment.angles = Eigen::MatrixXd::Zero(10, 1);
    recordings.push_back({"run", {segment}});
  }
  return recordings;
}

// Two runs of one unit give slightly different clock rates. The estimator uses one step for all,
// and would refuse them.
TEST(CommonPeriod, IsSharedOnlyByRunsOfOneUnit) {
  auto recordings = recordings_with({1.000035e-3, 1.0000342e-3, 2e-3, 1.0001e-3});
  unify_periods(recordings);
  EXPECT_EQ(recordings[1].segments[0].period, 1.000035e-3);
  EXPECT_EQ(recordings[2].segments[0].period, 2e-3);
  EXPECT_EQ(recordings[3].segments[0].period, 1.0001e-3);  // 65 ppm: another unit
}

}  // namespace
}  // namespace service
