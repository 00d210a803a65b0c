#include "daq/commands/commands.hpp"

#include <gtest/gtest.h>

#include <sstream>

namespace daq {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

TEST(JudgeLatency, ComparesTheLongestLatencyWithItsBounds) {
  const auto judge = [](int longest_us) {
    return assess_latency(microseconds(longest_us), milliseconds(1));
  };
  EXPECT_EQ(judge(19), LatencyRating::kExcellent);
  EXPECT_EQ(judge(20), LatencyRating::kGood);
  EXPECT_EQ(judge(100), LatencyRating::kUsable);
  EXPECT_EQ(judge(500), LatencyRating::kUnusable);
}

// The sentence must name the period that the machine cannot hold. The longest latency of the met
// periods must not hide missed ones.
TEST(DescribeVerdict, StatesTheSustainedAndTheMissedPeriods) {
  const auto describe = [](int longest_us, std::int64_t skipped, microseconds period) {
    LatencyResult result{.real_time = {}, .histogram = std::make_unique<TimingHistogram>()};
    for (int k = 0; k < 97; ++k) result.histogram->add(microseconds(5));
    result.histogram->add(microseconds(longest_us));
    result.skipped_periods = skipped;
    return describe_latency(result, period);
  };
  EXPECT_EQ(describe(1900, 2, milliseconds(1)), "too slow for 1 kHz: 2 of 100 periods missed");
  EXPECT_EQ(describe(600, 0, milliseconds(1)), "too slow for 1 kHz: at most 600 µs late");
  EXPECT_EQ(describe(600, 0, microseconds(2500)), "usable for 0.4 kHz: at most 600 µs late");
  EXPECT_EQ(describe(87, 0, milliseconds(1)), "good for 1 kHz: at most 87 µs late");
  EXPECT_EQ(describe(19, 0, milliseconds(1)), "excellent for 1 kHz: at most 19 µs late");
}

// Every deadline is either measured or counted as skipped. Catches a loop that restarts its grid
// after a long wake-up and loses some.
TEST(MeasureLatency, AccountsForEveryPeriod) {
  const LatencyResult result = measure_latency(
      {.period = milliseconds(1), .duration = milliseconds(100), .real_time = {.priority = 0}});
  const std::int64_t periods = result.histogram->count() + result.skipped_periods;
  EXPECT_GE(periods, 98);  // the grid starts up to one period after the clock was read
  EXPECT_GT(result.histogram->mean().count(), 0);
}

TEST(RunLatency, PrintsAVerdict) {
  std::ostringstream out;
  print_latency_report(
      {.duration = milliseconds(20), .real_time = {.priority = 0, .lock_memory = false}}, out);
  EXPECT_NE(out.str().find("verdict: "), std::string::npos);
}

}  // namespace
}  // namespace daq
