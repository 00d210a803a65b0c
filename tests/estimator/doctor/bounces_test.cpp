#include "estimator/doctor/bounces.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "estimator/model/mechanisms/pendulum.hpp"
#include "tests/estimator/doctor/made_up_motion.hpp"

namespace {

using estimator::Finding;
using estimator::Mechanism;
using estimator::Recording;
using test_support::MadeUpMotion;

Recording bouncing(double stop, double rate, double noise, double quantum, unsigned seed) {
  const MadeUpMotion motion{.dry = 0.5, .push = 0.0, .stop = stop};
  estimator::Segment segment;
  segment.period = 1.0 / rate;
  segment.angles = test_support::as_read(motion.angles(rate, static_cast<int>(6.0 * rate), seed),
                                         noise, quantum, seed);
  return {"run", {segment}};
}

std::vector<Finding> bounces_in(const Recording& recording, double quantum,
                                const Mechanism& mechanism = estimator::make_pendulum()) {
  estimator::SignalExamination out;
  estimator::find_bounces(mechanism, {quantum}, recording, out);
  return out.findings;
}

constexpr double kDiscCount = 2.0 * M_PI / 4096.0;

// A start of 1.5 against stops at ±1: both are told, where they are.
TEST(Bounces, AtOnePlaceAreToldAsAStop) {
  for (const double rate : {200.0, 1000.0}) {
    for (const bool counted : {false, true}) {
      SCOPED_TRACE(::testing::Message() << rate << (counted ? " counted" : ""));
      const Recording recording =
          bouncing(0.6, rate, counted ? 0.0 : 5e-4, counted ? kDiscCount : 0.0, 3);
      const std::vector<Finding> found = bounces_in(recording, counted ? kDiscCount : 0.0);
      ASSERT_FALSE(found.empty());
      for (const Finding& finding : found) {
        EXPECT_EQ(finding.kind, "undescribed-stop");
        EXPECT_EQ(finding.channel, "1");
        EXPECT_NEAR(std::abs(finding.size), 0.6, 0.02);
        EXPECT_NE(finding.advice.find(finding.size > 0.0 ? "upper" : "lower"), std::string::npos);
        EXPECT_GE(finding.to, finding.from);
      }
    }
  }
}

// Neither swinging, nor dry friction that stops and holds, nor torques that jump turn a joint round
// at once; and what the description knows is not told.
TEST(Bounces, AreNotSeenWhereNothingStrikes) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    const double rate = seed % 2 == 0 ? 1000.0 : 100.0;
    const MadeUpMotion motion{.start = 0.1 * seed};
    estimator::Segment segment;
    segment.period = 1.0 / rate;
    const double quantum = seed % 3 == 0 ? kDiscCount : 0.0;
    segment.angles = test_support::as_read(motion.angles(rate, static_cast<int>(10.0 * rate), seed),
                                           seed % 3 == 0 ? 0.0 : 1e-3, quantum, seed);
    EXPECT_TRUE(bounces_in({"run", {segment}}, quantum).empty()) << seed;
  }
  Mechanism stopped = estimator::make_pendulum();
  stopped.hinges[0].stops_upper = true;
  EXPECT_TRUE(bounces_in(bouncing(0.6, 1000.0, 5e-4, 0.0, 3), 0.0, stopped).empty());
}

}  // namespace
