#include "proto/recording/recording_rules.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace proto {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// Whether rules that have seen nothing yet take a message of each kind with this time.
bool take_time(double timestamp_s, int kind) {
  RecordingRules rules(0);
  switch (kind) {
    case 0:
      return !rules.take(Sample{.timestamp_s = timestamp_s});
    case 1:
      return !rules.take(Command{.timestamp_s = timestamp_s});
    case 2:
      return !rules.take(Gap{.timestamp_s = timestamp_s});
    case 3:
      return !rules.take(Event{.timestamp_s = timestamp_s});
    case 4:
      return !rules.take(ClockFit{.timestamp_s = timestamp_s});
    default:
      return !rules.take(LoopStats{.timestamp_s = timestamp_s});
  }
}

// Every kind of message has a time, and each is held to the same bound, on both sides and to the
// bound itself; a NaN is in no range.
TEST(RecordingRules, HoldEveryTimeToItsBound) {
  for (int kind = 0; kind < 6; ++kind) {
    SCOPED_TRACE(kind);
    for (const double time_s : {0.0, kTimeMax_s, -kTimeMax_s}) {
      EXPECT_TRUE(take_time(time_s, kind)) << time_s;
    }
    for (const double time_s :
         {std::nextafter(kTimeMax_s, kInfinity), std::nextafter(-kTimeMax_s, -kInfinity), kInfinity,
          -kInfinity, kNaN}) {
      EXPECT_FALSE(take_time(time_s, kind)) << time_s;
    }
  }
}

// Only a joint that is recorded can slide, and once.
TEST(RecordingRules, HoldSlidesToTheHinges) {
  const auto breach = [](const std::vector<std::string>& slides) {
    return breach_of(RecordingHeader{.hinges = {"cart", "pole"}, .slides = slides});
  };
  EXPECT_FALSE(breach({}));
  EXPECT_FALSE(breach({"pole", "cart"}));
  for (const std::vector<std::string>& slides :
       {std::vector<std::string>{"arm"}, {"cart", "cart"}, {"cart,pole"}, {""}}) {
    EXPECT_TRUE(breach(slides)) << join_names(slides);
  }
  EXPECT_NE(breach({"arm"}).value_or("").find("'arm'"), std::string::npos);
}

// A gap ends where numbers end at the latest, and its end does not come round to the start.
TEST(RecordingRules, HoldAGapToTheLastNumber) {
  const auto takes = [](std::uint64_t first, std::uint64_t count) {
    return !RecordingRules(0).take(Gap{0.0, first, count, GapCause::kLink});
  };
  EXPECT_TRUE(takes(0, kSequenceMax));
  EXPECT_FALSE(takes(0, kSequenceMax + 1));
  EXPECT_TRUE(takes(5, kSequenceMax - 5));
  EXPECT_FALSE(takes(5, kSequenceMax - 4));
  EXPECT_FALSE(takes(kSequenceMax + 1, 0));
  EXPECT_FALSE(takes(5, std::numeric_limits<std::uint64_t>::max() - 4)) << "wraps to 0";
  EXPECT_FALSE(takes(std::numeric_limits<std::uint64_t>::max(), 1)) << "wraps to 0";
}

// Sequences rise; time does not go back, but may stand.
TEST(RecordingRules, HoldSamplesToTheirOrder) {
  RecordingRules rules(0);
  const auto takes = [&](std::uint64_t sequence, double time_s) {
    return !rules.take(Sample{.timestamp_s = time_s, .sequence = sequence});
  };
  EXPECT_TRUE(takes(3, 1.0));
  EXPECT_FALSE(takes(3, 1.1)) << "twice";
  EXPECT_FALSE(takes(2, 1.1)) << "back";
  EXPECT_FALSE(takes(4, std::nextafter(1.0, 0.0))) << "time goes back";
  EXPECT_TRUE(takes(4, 1.0)) << "what was refused left no trace";
  EXPECT_FALSE(takes(kSequenceMax, 2.0));
  EXPECT_TRUE(takes(kSequenceMax - 1, 2.0));
}

// What the table of ranges says of a number over a socket holds for one in a file, at both bounds.
TEST(RecordingRules, HoldNumbersToTheTableOfRanges) {
  const auto takes = [](const auto& message) { return !RecordingRules(1).take(message); };
  const auto angle = [&](double angle_rad, bool valid = true) {
    return takes(Sample{.channel_count = 1, .angle_rad = {angle_rad}, .valid = {valid}});
  };
  for (const double sign : {1.0, -1.0}) {
    EXPECT_TRUE(angle(sign * 1e12));
    EXPECT_FALSE(angle(sign * 1.01e12));
    EXPECT_FALSE(angle(sign * kInfinity));
    EXPECT_TRUE(angle(sign * 1.01e12, false)) << "nobody reads it";
    for (const double factor : {1.0, 1.01}) {
      const double command = sign * factor * 1e6;
      EXPECT_EQ(takes(Sample{.channel_count = 1, .command_V = command}), factor == 1.0);
      EXPECT_EQ(takes(Command{.command_V = command}), factor == 1.0);
      EXPECT_EQ(takes(ClockFit{.rate_error_ppm = sign * factor * 1e12}), factor == 1.0);
    }
  }
  EXPECT_FALSE(angle(kNaN)) << "a valid angle is a number";
}

}  // namespace
}  // namespace proto
