#include "service/calibration/calibration_input.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "proto/text/input_error.hpp"

namespace service {
namespace {

constexpr double kForever = std::numeric_limits<double>::infinity();

// Recordings with a period of 1 ms and this duration.
std::vector<estimator::Recording> recordings_of(double duration) {
  estimator::Segment segment;
  segment.period = 1e-3;
  segment.angles = Eigen::MatrixXd::Zero(static_cast<Eigen::Index>(duration / 1e-3) + 1, 1);
  estimator::Recording recording;
  recording.segments.push_back(segment);
  return {recording};
}

// The reason for a refusal, empty if accepted.
std::string refused(double duration, double step, double time_s = kForever) {
  try {
    check_work_budget(recordings_of(duration), step, time_s);
  } catch (const proto::InputError& error) {
    return error.what();
  }
  return "";
}

// A step longer than the recording is refused. One that fits once is left to the estimator, whose
// message is more precise.
TEST(WorkBudget, RefusesAStepLongerThanTheRecordings) {
  EXPECT_NE(refused(2.0, 1e9).find("longer than the longest segment"), std::string::npos);
  EXPECT_NE(refused(2.0, 2.01), "");
  EXPECT_EQ(refused(2.0, 1.99), "");
  EXPECT_EQ(refused(2.0, 0.0), "");
  EXPECT_NE(refused(2.0, -1.0), "");
  EXPECT_NE(refused(2.0, std::nan("")), "");
  EXPECT_NE(refused(2.0, kForever), "");
}

// More steps than the fastest machine computes in the time, or than can be counted.
TEST(WorkBudget, RefusesStepsThatCannotEndInTime) {
  EXPECT_EQ(refused(2.0, 1.01e-6, 2.0), "");
  const std::string late = refused(2.0, 0.99e-6, 2.0);
  EXPECT_NE(late.find("within 2 s"), std::string::npos) << late;
  EXPECT_EQ(refused(2.0, 2.1e-8), "");
  EXPECT_NE(refused(2.0, 1.9e-8), "");
  EXPECT_NE(refused(2.0, 1e-300), "");
  EXPECT_NE(refused(2.0, 0.0, 1e-4), "") << "its own samples are steps";
}

}  // namespace
}  // namespace service
