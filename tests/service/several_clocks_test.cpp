#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numbers>
#include <sstream>
#include <string>

#include "service/recordings/burst_clock.hpp"
#include "service/recordings/csv_recording.hpp"
#include "service/recordings/formats/recording_file.hpp"
#include "tests/service/run_rigcal.hpp"
#include "tests/support/evaluation_data.hpp"
#include "tests/support/refusal.hpp"

namespace service {
namespace {

using namespace test_support;

constexpr double kSamplePeriod = 0.005;

double swing(double time) { return 0.5 * std::sin(2.0 * std::numbers::pi * time); }

/// Rows sampled every 5 ms, as the computer receives them.
struct Arrivals {
  std::vector<double> times;
  std::vector<double> readings;

  std::optional<BurstClock> recover() const { return recover_burst_clock(times, {readings}); }
};

/// A USB adapter that delivers all rows since the last delivery every `latency` seconds.
/// @param inside  time between two rows of a burst [s]
/// @param edit    returns the delay of a row [s], or NaN if the row is lost
Arrivals deliver(
    double latency, double inside,
    const std::function<double(int)>& edit = [](int) { return 0.0; }) {
  Arrivals arrivals;
  double burst = -1.0;
  int row = 0;
  for (int k = 0; k < 800; ++k) {
    if (std::isnan(edit(k))) continue;
    const double delivery = std::ceil((k * kSamplePeriod + 1e-9) / latency) * latency + edit(k);
    row = delivery > burst ? 0 : row + 1;
    burst = delivery;
    arrivals.times.push_back(delivery + row * inside);
    arrivals.readings.push_back(swing(k * kSamplePeriod));
  }
  return arrivals;
}

TEST(BurstClock, RecoversTheClockOfRegularBursts) {
  for (const double inside : {0.0, 1e-4}) {  // with equal and with different time stamps
    const auto clock = deliver(0.02, inside).recover();
    ASSERT_TRUE(clock.has_value()) << inside;
    EXPECT_NEAR(clock->period, kSamplePeriod, 1e-12);
    EXPECT_EQ(clock->rows, 4);
    EXPECT_NEAR(clock->interval, 0.02, 1e-9);
    EXPECT_NEAR(clock->jitter_max, 0.0, 1e-9);
    EXPECT_NEAR(clock->times[799] - clock->times[0], 799 * kSamplePeriod, 1e-9);
  }
}

// A latency of 16 ms gives bursts of three or four rows. Their ends scatter uniformly over a period
// of 5 ms, which over 4 s and 250 bursts gives a standard deviation of the period of 5 ms/√12 ·
// √12 / (4 s · √250) = 80 ppm.
TEST(BurstClock, RecoversTheClockOfUnequalBursts) {
  const auto clock = deliver(0.016, 1e-5).recover();
  ASSERT_TRUE(clock.has_value());
  EXPECT_NEAR(clock->period, kSamplePeriod, 4.0 * 80e-6 * kSamplePeriod);
}

TEST(BurstClock, ReportsTheJitterOfBursts) {
  // Rows 400 to 403 form a burst. A single late burst does not shift the clock.
  const auto late = deliver(0.02, 1e-4, [](int k) { return k >= 400 && k < 404 ? 0.007 : 0.0; });
  const auto clock = late.recover();
  ASSERT_TRUE(clock.has_value());
  EXPECT_NEAR(clock->period, kSamplePeriod, 1e-9);
  EXPECT_NEAR(clock->jitter_max, 0.007, 1e-6);
}

TEST(BurstClock, ContinuesAfterALostBurst) {
  const double lost = std::nan("");
  const auto clock =
      deliver(0.02, 1e-4, [&](int k) { return k >= 400 && k < 404 ? lost : 0.0; }).recover();
  ASSERT_TRUE(clock.has_value());
  EXPECT_NEAR(clock->times[400] - clock->times[399], 5 * kSamplePeriod, 1e-9);
}

// The number of rows no longer gives the time.
TEST(BurstClock, RejectsBurstsWithALostRow) {
  const double lost = std::nan("");
  EXPECT_FALSE(
      deliver(0.02, 1e-4, [&](int k) { return k == 402 ? lost : 0.0; }).recover().has_value());
}

// Pairs of readings that really are 0.5 ms apart change little from the first to the second.
TEST(BurstClock, RejectsSamplesInPairs) {
  Arrivals pairs;
  for (int k = 0; k < 800; ++k) {
    pairs.times.push_back((k / 2) * 0.01 + (k % 2) * 5e-4);
    pairs.readings.push_back(swing(pairs.times.back()));
  }
  EXPECT_FALSE(pairs.recover().has_value());
}

// Delays of up to 40 % of a period leave steps of 60 to 140 % of a period, which are no bursts.
TEST(BurstClock, RejectsJitter) {
  Arrivals jitter;
  for (int k = 0; k < 800; ++k) {
    jitter.times.push_back(k * kSamplePeriod +
                           0.4 * kSamplePeriod * std::abs(std::sin(12.9898 * k)));
    jitter.readings.push_back(swing(k * kSamplePeriod));
  }
  EXPECT_FALSE(jitter.recover().has_value());
}

TEST(MeanTimeStep, LeavesOutPauses) {
  std::vector<double> times;
  for (int k = 0; k < 100; ++k) times.push_back(0.01 * k + (k < 50 ? 0.0 : 30.0));
  EXPECT_NEAR(mean_time_step(times), 0.01, 1e-9);
  EXPECT_EQ(mean_time_step({1.0}), 0.0);
}

/// A log with two encoders "a" and "b" and a motor command "u".
RecordingFormat make_log_format() {
  RecordingFormat format;
  format.time_column = "t";
  for (const char* name : {"a", "b"}) {
    EncoderColumn angle{.column = name, .joint = name, .allow_missing = true};
    format.angles.push_back(angle);
  }
  ControlColumn control;
  control.column = "u";
  control.joint = "a";
  format.controls.push_back(control);
  return format;
}

/// Writes rows "t,a,b,u"; NaN becomes an empty cell.
class LogText {
 public:
  LogText() { text_.precision(12); }
  void add(double time, double a, double b, double u) {
    text_ << time;
    for (const double value : {a, b, u}) {
      text_ << ',';
      if (!std::isnan(value)) text_ << value;
    }
    text_ << '\n';
  }
  ImportedRecording read() const {
    return import_csv_text("log.csv", "t,a,b,u\n" + text_.str(), make_log_format());
  }

 private:
  std::ostringstream text_;
};

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

bool has_note(const ImportedRecording& imported, const std::string& part) {
  return std::ranges::any_of(imported.summary.notes, [&](const std::string& note) {
    return note.find(part) != std::string::npos;
  });
}

// Commands in rows of their own, every 10 ms between readings every 4 ms.
TEST(SeveralClocks, ACommandHoldsUntilTheNext) {
  LogText log;
  for (int k = 0; k < 1000; ++k) {  // every ms
    if (k % 4 == 0) log.add(1e-3 * k, swing(1e-3 * k), swing(1e-3 * k), kNone);
    if (k % 10 == 3) log.add(1e-3 * k, kNone, kNone, k / 10);
  }
  const ImportedRecording imported = log.read();
  ASSERT_EQ(imported.recording.segments.size(), 1U);
  const estimator::Segment& segment = imported.recording.segments.front();
  // The reading at 0 ms precedes the first command, at 3 ms.
  EXPECT_NEAR(segment.start, 0.003, 1e-12);
  EXPECT_TRUE(has_note(imported, "rows before the first command are left out: 1"));
  EXPECT_TRUE(has_note(imported, "column \"u\" has values in 100 of 350 rows"));
  ASSERT_EQ(segment.sample_count(), 349);
  for (int k = 0; k < segment.sample_count(); ++k) {
    const double ms = std::round(1e3 * (segment.start + segment.time(k)));
    EXPECT_EQ(segment.controls(k, 0), std::floor((ms - 3.0) / 10.0)) << ms;
  }
  EXPECT_TRUE(imported.summary.gaps.empty());
  EXPECT_TRUE(imported.summary.has_several_clocks);
}

// A command that changes every 20 rows lacks single values. Those between equal values are known;
// the recording is split at the others, because the command may have changed before or after them.
TEST(SeveralClocks, ALostCommandIsFilledOnlyBetweenEqualValues) {
  LogText log;
  const auto command = [](int k) { return k / 20 % 2 == 0 ? 1.0 : -1.0; };
  for (int k = 0; k < 400; ++k) {
    const bool is_lost = k == 50 || k == 51 || k == 111 || k == 240;  // 240: a change
    log.add(1e-3 * k, swing(1e-3 * k), swing(1e-3 * k), is_lost ? kNone : command(k));
  }
  const ImportedRecording imported = log.read();
  EXPECT_TRUE(has_note(imported,
                       "column \"u\" has values in 396 of 400 rows; 3 missing values are "
                       "between equal values and are set to them; the recording is split "
                       "at the other 1"));
  ASSERT_EQ(imported.recording.segments.size(), 2U);
  EXPECT_EQ(imported.recording.segments[0].sample_count(), 241);
  for (const estimator::Segment& segment : imported.recording.segments) {
    const int first = static_cast<int>(std::lround(1e3 * segment.start));
    for (int k = 0; k + 1 < segment.sample_count(); ++k) {  // the last one has no effect
      EXPECT_EQ(segment.controls(k, 0), command(first + k)) << first + k;
    }
  }
  EXPECT_FALSE(imported.summary.has_several_clocks);
}

TEST(SeveralClocks, ACommandWithoutValuesIsRefused) {
  LogText log;
  for (int k = 0; k < 100; ++k) log.add(0.01 * k, swing(0.01 * k), 0.0, kNone);
  expect_parts(refusal([&] { (void)log.read(); }),
               {"log.csv:2:4", "column \"u\" has no values", "control { }"});
}

// Encoders read 1 ms apart every 10 ms, and both with offsets to the command: no gaps.
TEST(SeveralClocks, ReadingsAreUsedAtTheirOwnTimes) {
  LogText log;
  for (int k = 0; k < 100; ++k) {
    log.add(0.01 * k, swing(0.01 * k), kNone, kNone);
    log.add(0.01 * k + 0.001, kNone, swing(0.01 * k + 0.001), kNone);
    log.add(0.01 * k + 0.002, kNone, kNone, 1.0 * k);
  }
  const ImportedRecording imported = log.read();
  ASSERT_EQ(imported.recording.segments.size(), 1U);
  EXPECT_TRUE(imported.summary.gaps.empty());
  EXPECT_TRUE(has_note(imported, "\"a\" at 100 Hz, \"b\" at 100 Hz"));
  const estimator::Segment& segment = imported.recording.segments.front();
  for (int k = 0; k < segment.sample_count(); ++k) {
    const double time = segment.start + segment.time(k);
    for (int j = 0; j < 2; ++j) {
      if (std::isnan(segment.angles(k, j))) continue;
      EXPECT_NEAR(segment.angles(k, j), swing(time), 1e-9);
    }
  }
  for (const std::string& note : describe_import(imported.summary)) {
    EXPECT_EQ(note.find("jitter_tolerance"), std::string::npos) << note;
  }
}

// Rows of one time and different columns are one row; sources in order of time are sorted.
TEST(SeveralClocks, SourcesAreSortedAndMerged) {
  LogText log;
  for (int k = 0; k < 100; ++k) log.add(0.01 * k, swing(0.01 * k), 0.1, kNone);
  for (int k = 0; k < 100; ++k) log.add(0.01 * k, kNone, kNone, 1.0 * k);
  const ImportedRecording imported = log.read();
  ASSERT_EQ(imported.recording.segments.front().sample_count(), 100);
  EXPECT_EQ(imported.recording.segments.front().controls(42, 0), 42.0);
  EXPECT_TRUE(imported.summary.steady_clock);
  EXPECT_TRUE(has_note(imported, "out of order"));
  EXPECT_TRUE(has_note(imported, "100 rows have the time of the row before"));
}

TEST(SeveralClocks, EqualRowsAreMergedAndDifferentOnesRefused) {
  LogText equal, different;
  for (int k = 0; k < 100; ++k) {
    for (LogText* log : {&equal, &different}) log->add(0.01 * k, swing(0.01 * k), 0.1, 1.0);
    if (k != 50) continue;
    equal.add(0.5, swing(0.5), 0.1, 1.0);
    different.add(0.5, swing(0.5) + 1e-3, 0.1, 1.0);
  }
  EXPECT_EQ(equal.read().recording.segments.front().sample_count(), 100);
  expect_parts(refusal([&] { (void)different.read(); }),
               {"log.csv:53:1", "is repeated with other values", "rate_hz: 100"});
}

// Bursts with a lost row fall apart into gaps; the message names the remedy.
TEST(SeveralClocks, ConstantRateIsAdvisedForUnusableTimes) {
  LogText log;
  for (int k = 0; k < 400; ++k) {
    if (k == 201) continue;
    log.add(0.02 * (k / 4) + 1e-4 * (k % 4), swing(kSamplePeriod * k), 0.1, 1.0);
  }
  expect_parts(refusal([&] { (void)log.read(); }), {"too short", "gaps", "rate_hz: 200"});
}

class FieldReports : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto data = find_evaluation_data();
    if (!data) GTEST_SKIP() << "no evaluation data (../shared/data or RIG_DATA)";
    reports_ = (*data / "field_reports").string() + "/";
  }

  /// A rig file by init that reads this recording.
  Rig described(const std::string& kind, const std::string& recording) {
    const std::string rig = folder_.file("rig.textproto");
    run_successfully("init --force --kind " + kind + " --from " + reports_ + recording + " --out " +
                     rig);
    return load_rig(rig);
  }
  ImportedRecording read(const std::string& kind, const std::string& recording) {
    return import_recording(reports_ + recording, described(kind, recording));
  }

  std::string reports_;
  TemporaryFolder folder_;
};

TEST_F(FieldReports, AMergeOfTwoTopicsIsRead) {
  const ImportedRecording imported = read("furuta", "tworate.csv");
  EXPECT_EQ(imported.recording.segments.size(), 1U);
  EXPECT_TRUE(has_note(imported, "each value applies until the next one"));
}

TEST_F(FieldReports, EncodersWithOwnTimesAreRead) {
  const ImportedRecording imported = read("furuta", "alt_1ms.csv");
  EXPECT_EQ(imported.recording.segments.size(), 1U);
  EXPECT_TRUE(has_note(imported, "at 125 Hz"));
}

TEST_F(FieldReports, BurstsAreRead) {
  const ImportedRecording imported = read("pendulum", "burst4.csv");
  ASSERT_EQ(imported.recording.segments.size(), 1U);
  EXPECT_TRUE(imported.summary.steady_clock);
  EXPECT_NEAR(imported.summary.period, 0.005, 1e-8);
  EXPECT_TRUE(has_note(imported, "bursts of 4 every 20 ms"));
}

TEST_F(FieldReports, BagsAreRead) {
  const ImportedRecording partial = read("pendulum", "bag_partial.mcap");
  EXPECT_EQ(partial.recording.segments.size(), 1U);
  const ImportedRecording swapped = read("pendulum", "bag_swap.mcap");
  ASSERT_EQ(swapped.recording.segments.size(), 1U);
  EXPECT_EQ(swapped.recording.segments.front().sample_count(), 2000) << "read by log time";
}

}  // namespace
}  // namespace service
