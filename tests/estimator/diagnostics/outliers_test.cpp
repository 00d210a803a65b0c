#include "estimator/diagnostics/jumps/outliers_and_steps.hpp"

#include <gtest/gtest.h>

#include <set>

#include "estimator/diagnostics/signal/finding_text.hpp"
#include "service/messages/message_text.hpp"
#include "tests/estimator/diagnostics/made_up_motion.hpp"

namespace estimator {
namespace {

using namespace test_support;

constexpr double kOutlierCount = 2.0 * M_PI / 4096.0;
constexpr double kUnread = std::numeric_limits<double>::quiet_NaN();

/// Rows of the outliers, with their sizes.
std::vector<std::pair<int, double>> outliers_of(const Eigen::VectorXd& readings, double rate,
                                                JointKind kind = JointKind::kRevolute) {
  const Segment segment = segment_of(readings, rate);
  const ReadingSeries series =
      collect_observed_readings(segment, segment.angles.col(0), joint_traits(kind).wraps);
  const NoiseScale scale(series, find_robust_quantization_step({series}, joint_units(kind).scale));
  std::vector<std::pair<int, double>> found;
  for (const Outlier& outlier : find_outliers(series, scale)) {
    found.emplace_back(series.rows[outlier.position], outlier.size);
  }
  return found;
}

// Motion with impacts, torque jumps and sticking friction: clean, as counts and with noise, fast
// and slow for its rate. None of it is an outlier. Catches a detector that reacts to kinks, but not
// one that finds nothing.
TEST(Outliers, AreNotReportedAtKinksAndImpacts) {
  for_each_clean_motion({20.0, 100.0, 1000.0}, [](const Eigen::VectorXd& readings, double rate) {
    EXPECT_TRUE(outliers_of(readings, rate).empty());
  });
}

// Outliers of either sign, several in a row, two close together, at both ends and beside missing
// readings are found, and nothing else.
TEST(Outliers, AreFoundAtAnyPosition) {
  for (const auto& [noise, count] : {std::pair(1e-3, 0.0), {0.0, kOutlierCount}, {1e-4, 1e-5}}) {
    SCOPED_TRACE(testing::Message() << "noise " << noise << ", count " << count);
    Eigen::VectorXd readings = as_read(MadeUpMotion{}.angles(1000.0, 3000, 1), noise, count, 1);
    std::set<int> put;
    const auto spoil = [&](int row, double by) {
      readings[row] += by;
      put.insert(row);
    };
    spoil(0, 0.3);
    spoil(400, 0.3);
    spoil(800, -0.3);
    for (const int row : {1200, 1201, 1202}) spoil(row, 0.2);
    for (const int row : {1600, 1601, 1602, 1603, 1604}) spoil(row, -0.3);
    spoil(2000, 0.3);
    spoil(2004, -0.3);
    readings[2399] = readings[2401] = kUnread;
    spoil(2400, 0.05);
    spoil(2999, -0.3);
    std::set<int> found;
    for (const auto& [row, size] : outliers_of(readings, 1000.0)) {
      found.insert(row);
      if (row == 800) {
        EXPECT_NEAR(size, -0.3, 0.02);
      }
    }
    EXPECT_EQ(found, put);
  }
}

// At 100 Hz accelerations bend the motion within one sample. Outliers larger than that bend are
// still found.
TEST(Outliers, AreFoundAtLowRates) {
  MadeUpMotion motion;
  motion.push = 0.0;
  Eigen::VectorXd readings = as_read(motion.angles(100.0, 1500, 2), 0.0, kOutlierCount, 2);
  readings[700] += 0.3;
  const auto found = outliers_of(readings, 100.0);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].first, 700);
}

// Four or five readings in a row that deviate by little are found, although extrapolations over
// five readings are uncertain.
TEST(Outliers, OfLongRunsMayBeSmall) {
  MadeUpMotion motion;
  motion.push = 0.0;
  const Eigen::VectorXd read = as_read(motion.angles(200.0, 1600, 4), 2e-3, 0.0, 4);
  EXPECT_TRUE(outliers_of(read, 200.0).empty());
  for (const int count : {4, 5}) {
    for (const double size : {0.06, -0.06}) {
      SCOPED_TRACE(testing::Message() << count << " by " << size);
      Eigen::VectorXd readings = read;
      std::set<int> put, found;
      for (int first = 60; first < 1500; first += 173) {
        readings.segment(first, count).array() += size;
        for (int k = 0; k < count; ++k) put.insert(first + k);
      }
      for (const auto& outlier : outliers_of(readings, 200.0)) found.insert(outlier.first);
      EXPECT_EQ(found, put);
    }
  }
}

// Many runs of false readings, as bus errors make them, do not hide each other at any rate. Without
// them no step is left, which would be an encoder slip.
TEST(Outliers, OfManyRunsAreAllFound) {
  for (const double rate : {50.0, 200.0, 1000.0}) {
    for (const bool is_mixed : {false, true}) {
      for (unsigned seed = 0; seed < 6; ++seed) {
        SCOPED_TRACE(testing::Message() << rate << " Hz, mixed " << is_mixed << ", seed " << seed);
        MadeUpMotion motion;
        motion.push = 0.0;
        motion.dry = 0.5;
        Eigen::VectorXd readings = as_read(motion.angles(rate, 2000, seed), 1e-3, 0.0, seed);
        std::mt19937 random(seed);
        std::set<int> put;
        for (int run = 0; run < 8; ++run) {
          const int first = 100 + 220 * run + static_cast<int>(random() % 100);
          for (int row = first; row < first + 3; ++row) {
            readings[row] += is_mixed && random() % 2 == 0 ? -1.0 : 1.0;
            put.insert(row);
          }
        }
        std::set<int> found;
        for (const auto& [row, size] : outliers_of(readings, rate)) {
          found.insert(row);
          readings[row] = kUnread;
        }
        // Of a run with both signs, single readings can be missed.
        if (!is_mixed) EXPECT_EQ(found, put);
        const Segment segment = segment_of(readings, rate);
        const ReadingSeries series =
            collect_observed_readings(segment, segment.angles.col(0), true);
        EXPECT_TRUE(
            find_reading_steps(series, NoiseScale(series, 0.0), SeriesKind::kMotion, 1.0).empty());
      }
    }
  }
}

// A reading that differs by a full turn is the same angle, and not an outlier. A prismatic joint
// has no full turns.
TEST(Outliers, IgnoreFullTurnsOfRevoluteJointsOnly) {
  Eigen::VectorXd readings = MadeUpMotion{}.angles(1000.0, 1000, 3);
  readings[500] += 2.0 * M_PI;
  EXPECT_TRUE(outliers_of(readings, 1000.0).empty());
  EXPECT_EQ(outliers_of(readings, 1000.0, JointKind::kPrismatic).size(), 1U);
}

// The advice must mention the part that this type of encoder has.
TEST(Outliers, AdviceMatchesTheEncoderType) {
  const OutlierStatistics outliers{
      .count = 2, .readings = 1000, .first = 1.0, .last = 2.0, .largest = 0.3, .noise = 1e-3};
  const auto advice = [&](JointKind kind) {
    return service::describe_finding(
               make_outlier_finding({.name = "x", .kind = kind}, "", outliers, SeriesKind::kMotion))
        .advice;
  };
  EXPECT_NE(advice(JointKind::kRevolute).find("encoder disc"), std::string::npos);
  EXPECT_NE(advice(JointKind::kPrismatic).find("encoder scale"), std::string::npos);
}

// Two readings beyond a lasting step are as good as the following ones.
TEST(Outliers, AreNotReportedNextToAStep) {
  Eigen::VectorXd readings = as_read(MadeUpMotion{}.angles(1000.0, 2000, 4), 0.0, kOutlierCount, 4);
  readings.tail(900).array() += 0.2;
  EXPECT_TRUE(outliers_of(readings, 1000.0).empty());
}

}  // namespace
}  // namespace estimator
