#include "service/recordings/rounded_clock.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "service/recordings/csv_recording.hpp"
#include "tests/support/refusal.hpp"

namespace service {
namespace {

using namespace test_support;

double angle_at(double time) { return 0.5 * std::sin(2.0 * std::numbers::pi * time); }

/// Rows of a swing with rounded time stamps.
struct Rows {
  std::vector<double> times, stamps, readings;

  void add(double time, double unit) {
    times.push_back(time);
    stamps.push_back(std::floor(time / unit + 1e-6) * unit);
    readings.push_back(angle_at(time));
  }
  std::vector<double> recover() const { return recover_rounded_clock(stamps, {readings}); }

  /// Returns the root mean square of the errors of times, without their mean [s].
  double error(const std::vector<double>& estimates) const {
    double sum = 0.0, squares = 0.0;
    for (std::size_t k = 0; k < times.size(); ++k) {
      const double each = estimates[k] - times[k];
      sum += each;
      squares += each * each;
    }
    const auto n = static_cast<double>(times.size());
    return std::sqrt(std::max(0.0, squares / n - sum / n * sum / n));
  }
};

Rows regular_rows(double rate, double unit, int lost = -1) {
  Rows rows;
  for (int k = 0; k < 1000; ++k) {
    if (k != lost) rows.add(k / rate, unit);
  }
  return rows;
}

// Equal time stamps follow each other at more than 100 Hz.
TEST(RoundedClock, RecoversARegularClock) {
  for (const auto& [rate, unit] :
       {std::pair(60.0, 1e-2), {99.7, 1e-2}, {137.0, 1e-2}, {333.3, 1e-2}, {1300.0, 1e-3}}) {
    const Rows rows = regular_rows(rate, unit);
    const std::vector<double> times = rows.recover();
    ASSERT_EQ(times.size(), rows.times.size()) << rate;
    EXPECT_LT(rows.error(times), 0.01 * unit) << rate;
    EXPECT_GT(rows.error(rows.stamps), 0.25 * unit) << rate;
  }
}

// Stamps of 10 ms at 100 Hz: a lost row is a step of 20 ms, as it also occurs at 99.7 Hz without a
// lost row. The readings decide. At 137 Hz, a lost row is more than rounding explains.
TEST(RoundedClock, KeepsStampsWhereARowIsMissing) {
  EXPECT_TRUE(regular_rows(100.0, 1e-2, 503).recover().empty());
  EXPECT_TRUE(regular_rows(137.0, 1e-2, 503).recover().empty());
}

// A loop that sleeps has a varying period, and its time stamps may be exact.
TEST(RoundedClock, KeepsStampsOfAnIrregularClock) {
  std::mt19937_64 random(5);
  Rows exact, rounded;
  double time = 0.0;
  for (int k = 0; k < 1000; ++k) {
    const auto draw = static_cast<double>(random() % 1000);
    exact.add(0.01 * std::round(100.0 * time), 0.01);
    rounded.add(time, 0.01);
    time += 0.012 + 6e-6 * draw;
  }
  EXPECT_TRUE(exact.recover().empty());
  EXPECT_TRUE(rounded.recover().empty());
}

// In stamps finer than the sampling period, an equal stamp is an error.
TEST(RoundedClock, DoesNotExplainARepeatedFineStamp) {
  Rows rows = regular_rows(170.0, 1e-3);
  rows.stamps[400] = rows.stamps[399];
  EXPECT_TRUE(rows.recover().empty());
}

// A regular clock goes on after a pause, at another phase.
TEST(RoundedClock, RecoversTheClockAfterAPause) {
  Rows rows;
  for (int k = 0; k < 1000; ++k) rows.add(k / 137.0 + (k < 400 ? 0.0 : 0.7513), 1e-2);
  const std::vector<double> times = rows.recover();
  ASSERT_EQ(times.size(), 1000U);
  EXPECT_LT(rows.error(times), 0.05 * 1e-2);
}

TEST(RoundedClock, IsReportedByTheImport) {
  const Rows rows = regular_rows(137.0, 1e-2);
  std::ostringstream text;
  text << "t,theta\n";
  for (std::size_t k = 0; k < rows.times.size(); ++k) {
    text << rows.stamps[k] << ',' << rows.readings[k] << '\n';
  }
  RecordingFormat format;
  format.time_column = "t";
  format.angles.resize(1);
  format.angles[0].column = "theta";
  format.angles[0].joint = "1";
  const ImportedRecording imported = import_csv_text("r.csv", text.str(), format);
  ASSERT_EQ(imported.recording.segments.size(), 1U);
  EXPECT_EQ(imported.recording.segments[0].sample_count(), 1000);
  EXPECT_TRUE(imported.recording.segments[0].times.empty());
  EXPECT_NEAR(imported.summary.period, 1.0 / 137.0, 1e-6);
  expect_parts(describe_import(imported.summary).front(), {"rounded to 10 ms", "regular clock"});
}

}  // namespace
}  // namespace service
