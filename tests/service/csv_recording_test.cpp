#include "service/recordings/csv_recording.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numbers>
#include <sstream>
#include <string>

#include "tests/support/refusal.hpp"

namespace service {
namespace {

using namespace test_support;

RecordingFormat make_format() {
  RecordingFormat format;
  format.time_column = "t";
  EncoderColumn angle;
  angle.column = "theta";
  angle.joint = "1";
  format.angles.push_back(angle);
  ControlColumn control;
  control.column = "u";
  control.joint = "1";
  format.controls.push_back(control);
  return format;
}

/// Rows "t,theta,u" at 100 Hz of a 1 Hz swing. `edit` may change t and theta, or drop the row.
struct Row {
  double t;
  double theta;
  double u;
  bool keep = true;
};
std::string make_csv(int rows, const std::function<void(int, Row&)>& edit = {}) {
  std::ostringstream text;
  text.precision(12);
  text << "t,theta,u\n";
  for (int k = 0; k < rows; ++k) {
    const double t = 0.01 * k;
    Row row{t, 0.5 * std::sin(2.0 * std::numbers::pi * t), 0.1 * k};
    if (edit) edit(k, row);
    if (row.keep) text << row.t << ',' << row.theta << ',' << row.u << '\n';
  }
  return text.str();
}

ImportedRecording import_text(const std::string& text, const RecordingFormat& format) {
  return import_csv_text("r.csv", text, format);
}

std::string import_refusal(const std::string& text, const RecordingFormat& format = make_format()) {
  return refusal([&] { (void)import_text(text, format); });
}

TEST(CsvRecording, ArrivesSampleForSample) {
  RecordingFormat format = make_format();
  format.angles[0].scale = -2.0;
  format.angles[0].offset = 0.25;
  format.controls[0].scale = 3.0;
  const ImportedRecording imported = import_text(make_csv(50), format);
  ASSERT_EQ(imported.recording.segments.size(), 1U);
  const estimator::Segment& segment = imported.recording.segments[0];
  ASSERT_EQ(segment.sample_count(), 50);
  EXPECT_DOUBLE_EQ(segment.period, 0.01);
  EXPECT_NEAR(segment.start, 0.0, 1e-9);
  EXPECT_NEAR(segment.angles(25, 0), -2.0 * 0.5 * std::sin(0.5 * std::numbers::pi) + 0.25, 1e-11);
  EXPECT_NEAR(segment.controls(7, 0), 3.0 * 0.7, 1e-12);
}

// Time stamps with few digits jitter by their round-off, which must not affect the period.
TEST(CsvRecording, PeriodIsExactDespiteRoundedStamps) {
  const auto round_stamps = [](int k, Row& row) { row.t = std::round(k / 300.0 * 1e4) * 1e-4; };
  const ImportedRecording imported = import_text(make_csv(3000, round_stamps), make_format());
  EXPECT_NEAR(imported.summary.period, 1.0 / 300.0, 1e-9);
  EXPECT_LT(imported.summary.jitter_max, 0.5e-4 * 300.0 + 1e-3);
}

TEST(CsvRecording, GapsSplitAndAreReported) {
  const auto drop = [](int k, Row& row) { row.keep = k < 30 || k >= 55; };
  const ImportedRecording imported = import_text(make_csv(100, drop), make_format());
  ASSERT_EQ(imported.recording.segments.size(), 2U);
  EXPECT_EQ(imported.recording.segments[0].sample_count(), 30);
  EXPECT_EQ(imported.recording.segments[1].sample_count(), 45);
  EXPECT_NEAR(imported.recording.segments[1].start, 0.55, 1e-9);
  ASSERT_EQ(imported.summary.gaps.size(), 1U);
  EXPECT_EQ(imported.summary.gaps[0].line, 32);  // header, 30 rows, then this one
  EXPECT_NEAR(imported.summary.gaps[0].duration, 0.26, 1e-12);
}

// The state continues across a few missing rows, which have no readings and a linearly interpolated
// command. A single one must not count as jitter.
TEST(CsvRecording, ContinuesAcrossMissingRows) {
  const auto drop = [](int k, Row& row) { row.keep = k != 20 && (k < 50 || k >= 53); };
  const ImportedRecording imported = import_text(make_csv(100, drop), make_format());
  ASSERT_EQ(imported.recording.segments.size(), 1U);
  EXPECT_TRUE(imported.summary.gaps.empty());
  EXPECT_EQ(imported.summary.holes.count, 2);
  EXPECT_EQ(imported.summary.holes.rows, 4);
  const estimator::Segment& segment = imported.recording.segments[0];
  ASSERT_EQ(segment.sample_count(), 100);
  EXPECT_DOUBLE_EQ(segment.period, 0.01);
  for (const int k : {20, 50, 51, 52}) {
    EXPECT_TRUE(std::isnan(segment.angles(k, 0))) << k;
    EXPECT_NEAR(segment.controls(k, 0), 0.1 * k, 1e-12) << k;
  }
  EXPECT_NEAR(segment.angles(53, 0),
              import_text(make_csv(100), make_format()).recording.segments[0].angles(53, 0), 1e-12);
  EXPECT_NEAR(segment.controls(53, 0), 5.3, 1e-12);
}

// If the command changed while many rows are missing, the recording is cut there.
TEST(CsvRecording, IsCutIfTheCommandChangedInAGap) {
  const auto drop = [](double jump) {
    return [jump](int k, Row& row) {
      row.keep = k < 50 || k >= 54;
      row.u = k < 52 ? 1.0 : 1.0 + jump;
    };
  };
  EXPECT_EQ(import_text(make_csv(100, drop(0.05)), make_format()).recording.segments.size(), 1U);
  EXPECT_EQ(import_text(make_csv(100, drop(0.5)), make_format()).recording.segments.size(), 2U);
}

TEST(CsvRecording, ShortStretchesAreDroppedAndCounted) {
  const auto drop = [](int k, Row& row) { row.keep = k < 30 || (k >= 52 && k < 57) || k >= 80; };
  const ImportedRecording imported = import_text(make_csv(100, drop), make_format());
  EXPECT_EQ(imported.recording.segments.size(), 2U);
  EXPECT_EQ(imported.summary.dropped_rows, 5);
  EXPECT_EQ(imported.summary.gaps.size(), 2U);
}

TEST(CsvRecording, SegmentColumnSplits) {
  RecordingFormat format = make_format();
  format.segment_column = "u";
  const auto mark = [](int k, Row& row) { row.u = k < 40 ? 1.0 : 2.0; };
  const ImportedRecording imported = import_text(make_csv(100, mark), format);
  ASSERT_EQ(imported.recording.segments.size(), 2U);
  EXPECT_EQ(imported.recording.segments[0].sample_count(), 40);
  EXPECT_TRUE(imported.summary.gaps.empty());
}

TEST(CsvRecording, LastControlMayBeMissing) {
  std::string text = make_csv(50);
  text = text.substr(0, text.rfind(',')) + ",nan\n";
  const ImportedRecording imported = import_text(text, make_format());
  EXPECT_NEAR(imported.recording.segments[0].controls(49, 0), 4.8, 1e-12);
}

TEST(CsvRecording, RateReplacesTimeStamps) {
  RecordingFormat format = make_format();
  format.time_column.clear();
  format.rate = 250.0;
  const ImportedRecording imported = import_text(make_csv(50), format);
  EXPECT_DOUBLE_EQ(imported.summary.period, 0.004);
}

TEST(CsvRecording, WrappedAnglesAreUnwrapped) {
  const auto spin = [](int k, Row& row) {
    row.theta = std::remainder(0.1 * k, 2.0 * std::numbers::pi);
  };
  const ImportedRecording imported = import_text(make_csv(200, spin), make_format());
  for (int k = 0; k < 200; ++k) {
    EXPECT_NEAR(imported.recording.segments[0].angles(k, 0), 0.1 * k, 1e-9);
  }
  EXPECT_EQ(imported.summary.notes.size(), 1U);
}

// A swing-up turns over several times and fast: neither the range nor 25 rad/s is suspicious.
TEST(CsvRecording, FastTurnsAreNotTakenForDegrees) {
  const auto spin = [](int k, Row& row) { row.theta = 0.25 * k; };
  const ImportedRecording imported = import_text(make_csv(200, spin), make_format());
  EXPECT_NEAR(imported.recording.segments[0].angles(199, 0), 0.25 * 199, 1e-9);
}

TEST(CsvRecording, NoiseIsNotTakenForSpeed) {
  // ±30 mrad of alternating noise at 1 kHz gives 60 rad/s between neighbours.
  RecordingFormat format = make_format();
  format.time_column.clear();
  format.rate = 1000.0;
  const auto noise = [](int k, Row& row) { row.theta = 0.1 + (k % 2 == 0 ? 0.031 : -0.031); };
  EXPECT_NO_THROW((void)import_text(make_csv(300, noise), format));
}

TEST(CsvRecording, RefusesDegreesReadAsRadians) {
  const auto degrees = [](int, Row& row) { row.theta *= 180.0 / std::numbers::pi; };
  expect_parts(import_refusal(make_csv(100, degrees)),
               {"r.csv:", ":2:", "\"theta\"", "rad/s", "unit: DEGREE"});
}

// The reported line is that of the bad reading, not of the start of the window around it.
TEST(CsvRecording, ReportsTheLineOfAReadingThatIsTooFast) {
  const std::string thrown = make_csv(200, [](int k, Row& row) {
    if (k >= 120 && k < 140) row.theta += 300.0;
  });
  const std::string refused = import_refusal(thrown);
  EXPECT_NE(refused.find("r.csv:122:2"), std::string::npos) << refused;
}

// False readings of any size in up to five rows reach the outlier test; in six they are a speed.
TEST(CsvRecording, KeepsSpikesForTheOutlierTest) {
  for (const double size : {-1e9, -3.0, 1.0, 100.0, 65535.0, 1e11}) {
    for (const int rows : {1, 5, 6}) {
      for (const int first : {0, 60, 200 - rows}) {
        const auto spike = [&](int k, Row& row) {
          if (k >= first && k < first + rows) row.theta = size;
        };
        SCOPED_TRACE(testing::Message() << rows << " rows of " << size << " from row " << first);
        const std::string text = make_csv(200, spike);
        const bool is_too_fast = rows == 6 && first == 60 && std::abs(size) > 2.0;
        if (is_too_fast) {
          expect_parts(import_refusal(text), {"r.csv:", "\"theta\"", "would turn at"});
        } else if (rows <= 5) {
          const auto imported = import_text(text, make_format());
          EXPECT_NEAR(imported.recording.segments[0].angles(first, 0), size, 1e-9 * std::abs(size));
        }
      }
    }
  }
}

// A false reading beyond the turn neither hides that angles wrap nor counts as turns.
TEST(CsvRecording, SpikesDoNotDisturbUnwrapping) {
  const auto spin = [](int k, Row& row) {
    row.theta = k == 100 || k == 101 ? 1000.0 : std::remainder(0.1 * k, 2.0 * std::numbers::pi);
  };
  const estimator::Segment segment =
      import_text(make_csv(200, spin), make_format()).recording.segments[0];
  for (int k = 0; k < 200; ++k) {
    if (k != 100 && k != 101) EXPECT_NEAR(segment.angles(k, 0), 0.1 * k, 1e-9) << k;
  }
}

// Only angles may be missing: allow_missing is no remedy for a missing time.
TEST(CsvRecording, ExplainsMissingCells) {
  const std::string hint = "allow_missing: true";
  for (const auto& [cells, has_hint] : {std::pair("nan,0.1", false), {"0.015,nan", true}}) {
    std::string text = make_csv(50);
    text.insert(text.find("\n0.02,") + 1, std::string(cells) + ",0\n");
    const std::string fault = import_refusal(text);
    expect_parts(fault, {"\"nan\" instead of a number; remove the row"});
    EXPECT_EQ(fault.find(hint) != std::string::npos, has_hint) << fault;
    std::vector<NamedColumn> columns = {{"t", {0.0, 0.01}}, {"theta", {0.0, 0.1}}, {"u", {0, 0}}};
    columns[has_hint ? 1 : 0].values[1] = std::nan("");
    const std::string array =
        refusal([&] { (void)import_columns_in_memory("array", columns, make_format()); });
    expect_parts(array, {"NaN is not allowed"});
    EXPECT_EQ(array.find(hint) != std::string::npos, has_hint) << array;
  }
}

// Faults of rows outside the selected time do not matter; those of rows within it do.
TEST(CsvRecording, JudgesOnlyRowsInTheTimeWindow) {
  const auto held = [](int k, Row& row) {
    if (k < 40) row.theta = 300.0 * (k % 2);
  };
  std::string text = make_csv(200, held);
  text.insert(text.find("\n0.05,") + 1, "0.05,oops,1\n0.04,1\n0.03,nan,2\n");
  const auto import_from = [&](double from) {
    return import_csv_text("r.csv", text, make_format(), {.from = from});
  };
  const ImportedRecording imported = import_from(0.5);
  ASSERT_EQ(imported.recording.segments.size(), 1U);
  EXPECT_EQ(imported.recording.segments[0].sample_count(), 150);
  EXPECT_NEAR(imported.recording.segments[0].start, 0.5, 1e-9);
  for (const double from : {0.0, 0.05}) {
    expect_parts(refusal([&] { (void)import_from(from); }), {"r.csv:", "\"oops\""});
  }
  RecordingFormat format = make_format();
  format.time_column.clear();
  format.rate = 100.0;
  const ImportedRecording counted =
      import_csv_text("r.csv", make_csv(200), format, {.from = 0.5, .to = 1.0});
  EXPECT_NEAR(counted.recording.segments[0].start, 0.5, 1e-9);
  EXPECT_EQ(counted.recording.segments[0].sample_count(), 51);
}

// Dates, and times since 1970 in any unit, count from the first one; the time since the start of
// the computer does not, not even after 30 years.
TEST(CsvRecording, CountsDatesFromTheFirst) {
  const auto import_with = [](double start, double unit) {
    RecordingFormat format = make_format();
    format.time_scale = unit;
    std::ostringstream text;
    text << "t,theta,u\n";
    for (int k = 0; k < 100; ++k) {
      text << static_cast<long long>(std::llround((start + 0.005 * k) / unit)) << ','
           << 0.5 * std::sin(0.06 * k) << ",0\n";
    }
    return import_text(text.str(), format);
  };
  for (const double unit : {1e-3, 1e-6, 1e-9}) {
    const ImportedRecording imported = import_with(1709596800.0, unit);
    EXPECT_NEAR(imported.recording.segments[0].start, 0.0, 1e-6);  // doubles resolve 0.24 µs
    EXPECT_NEAR(imported.summary.period, 0.005, 1e-8);
    ASSERT_EQ(imported.summary.notes.size(), 1U);
    expect_parts(imported.summary.notes[0], {"2024-03-05 00:00:00 UTC"});
  }
  EXPECT_NEAR(import_with(0.99e9, 1e-3).recording.segments[0].start, 0.99e9, 1e-3);
}

TEST(CsvRecording, RefusesTimeThatDoesNotIncrease) {
  const auto back = [](int k, Row& row) {
    if (k == 40) row.t = 0.2;
  };
  expect_parts(import_refusal(make_csv(100, back)), {"r.csv:42:1", "backwards", "sort or remove"});
  const auto still = [](int k, Row& row) {
    if (k == 40) row.t = 0.39;
  };
  expect_parts(import_refusal(make_csv(100, still)), {"r.csv:42:1", "is repeated", "rate_hz"});
}

TEST(CsvRecording, UsesIrregularTimesUnchanged) {
  const auto late = [](int k, Row& row) {
    if (k == 40) row.t += 0.002;
  };
  const ImportedRecording imported = import_text(make_csv(100, late), make_format());
  ASSERT_EQ(imported.recording.segments.size(), 1U);
  const estimator::Segment& segment = imported.recording.segments[0];
  ASSERT_EQ(segment.times.size(), 100U);
  EXPECT_NEAR(segment.time(39), 0.39, 1e-12);
  EXPECT_NEAR(segment.time(40), 0.402, 1e-12);
  EXPECT_FALSE(segment.angles.hasNaN());
  const auto notes = describe_import(imported.summary);
  ASSERT_FALSE(notes.empty());
  expect_parts(notes[0], {"2 ms", "20 %", "as they are", "jitter_tolerance"});
  RecordingFormat tolerant = make_format();
  tolerant.jitter_tolerance = 0.3;
  EXPECT_TRUE(import_text(make_csv(100, late), tolerant).recording.segments[0].times.empty());
}

// Stamps in whole milliseconds of a clock of 170 Hz deviate by up to 0.5 ms from an even spacing. A
// stamp that deviates by more than its unit is not rounded.
TEST(CsvRecording, TakesRoundedStampsAsEvenlySpaced) {
  const auto stamps = [](double early_ms) {
    return make_csv(240, [early_ms](int k, Row& row) {
      row.t = 1e-3 * (std::floor(1e3 * k / 170.0 + 1e-6) - (k % 50 == 20 ? early_ms : 0.0));
    });
  };
  const ImportedRecording rounded = import_text(stamps(0.0), make_format());
  ASSERT_EQ(rounded.recording.segments.size(), 1U);
  EXPECT_TRUE(rounded.recording.segments[0].times.empty());
  EXPECT_NEAR(rounded.summary.period, 1.0 / 170.0, 1e-6);
  ASSERT_EQ(describe_import(rounded.summary).size(), 1U);
  expect_parts(describe_import(rounded.summary)[0], {"rounded to 1 ms", "evenly spaced"});
  EXPECT_FALSE(import_text(stamps(2.0), make_format()).recording.segments[0].times.empty());
}

// A stamp that is early by half a period is followed by a step of 1.5 periods. No row is missing.
TEST(CsvRecording, StepsAfterEarlyStampsAreNoGaps) {
  const auto early = [](int k, Row& row) { row.t -= k % 10 == 5 ? 0.0051 : 0.0; };
  const ImportedRecording imported = import_text(make_csv(100, early), make_format());
  EXPECT_EQ(imported.recording.segments.size(), 1U);
  EXPECT_NEAR(imported.summary.period, 0.01, 1e-5);
  EXPECT_EQ(imported.summary.holes.count, 0);
}

// micros() of an Arduino starts again after 2^32 µs.
TEST(CsvRecording, UnwrapsTimeCounters) {
  RecordingFormat format = make_format();
  format.time_scale = 1e-6;
  for (const double modulus : {4294967296.0, 65536.0}) {
    const double first = modulus - 20000.0;
    const auto wrap = [&](int k, Row& row) { row.t = std::fmod(first + 1000.0 * k, modulus); };
    const ImportedRecording imported = import_text(make_csv(60, wrap), format);
    ASSERT_EQ(imported.recording.segments.size(), 1U) << modulus;
    EXPECT_NEAR(imported.summary.period, 1e-3, 1e-12);
    ASSERT_EQ(describe_import(imported.summary).size(), 1U);
    expect_parts(describe_import(imported.summary)[0], {"start again after", "unwrapped"});
  }
  // A step back of another size is no wrap.
  const auto restart = [](int k, Row& row) { row.t = 1000.0 * (k < 30 ? k : k - 30); };
  expect_parts(import_refusal(make_csv(60, restart), format), {"r.csv:32:1"});
}

TEST(CsvRecording, ToleratesSmallJitter) {
  const auto jitter = [](int k, Row& row) { row.t += (k % 3 - 1) * 0.0003; };
  const ImportedRecording imported = import_text(make_csv(100, jitter), make_format());
  EXPECT_EQ(imported.recording.segments.size(), 1U);
  EXPECT_NEAR(imported.summary.jitter_max, 0.03, 1e-3);
}

TEST(CsvRecording, RefusesAShortRecord) {
  expect_parts(import_refusal(make_csv(kSegmentSamplesMin - 1)), {"r.csv", "too short"});
  const auto holes = [](int k, Row& row) { row.keep = k % 30 < 8; };
  expect_parts(import_refusal(make_csv(100, holes)), {"r.csv", "too short", "gaps"});
}

TEST(CsvRecording, NotesUnusualInput) {
  RecordingFormat format = make_format();
  format.angles[0].in_degrees = true;
  format.angles[0].in_radians = false;
  format.angles[0].scale = std::numbers::pi / 180.0;
  const auto notes = import_text(make_csv(100), format).summary.notes;
  ASSERT_EQ(notes.size(), 1U);
  expect_parts(notes[0], {"RADIAN"});
  const auto stuck = [](int, Row& row) { row.theta = 0.1; };
  expect_parts(import_refusal(make_csv(100, stuck)), {"r.csv", "no motion"});
  RecordingFormat two = make_format();
  two.angles.push_back(two.angles[0]);
  two.angles[1].column = "u";
  const auto dead = import_text(make_csv(100, stuck), two).summary.notes;
  ASSERT_EQ(dead.size(), 1U);
  expect_parts(dead[0], {"warning", "\"theta\" never changes", "joint \"1\""});
}

// The number ranges of streamed recordings also hold for tables, tested at both bounds.
TEST(CsvRecording, ChecksNumbersAgainstTheTableOfRanges) {
  const auto with = [](double Row::*field, double value, int rows = 1) {
    return make_csv(200, [=](int k, Row& row) {
      row.u = 0.0;
      if (k >= 20 && k < 20 + rows) row.*field = value;
    });
  };
  for (const double value : {1e13, -1e13, 1e308}) {
    expect_parts(import_refusal(with(&Row::theta, value, 6)),
                 {"r.csv:22:2", "column \"theta\"", "must be from -1e12 to 1e12"});
    // False readings of up to five rows are left out, like smaller ones.
    const ImportedRecording imported = import_text(with(&Row::theta, value, 5), make_format());
    EXPECT_TRUE(std::isnan(imported.recording.segments.front().angles(22, 0)));
    ASSERT_FALSE(imported.summary.notes.empty());
    expect_parts(imported.summary.notes.front(), {"\"theta\": 5 readings are no possible angle"});
  }
  for (const double value : {1.1e6, -1.1e6}) {
    expect_parts(import_refusal(with(&Row::u, value)),
                 {"r.csv:22:3", "column \"u\"", "must be from -1e6 to 1e6"});
  }
  EXPECT_NO_THROW((void)import_text(with(&Row::u, 1e6), make_format()));
  // The rig file's scale factor is part of the checked number.
  RecordingFormat format = make_format();
  format.controls[0].scale = 1e6;
  expect_parts(import_refusal(with(&Row::u, 2.0), format), {"column \"u\" gives 2e6"});
  format.controls[0].scale = 1e308;
  expect_parts(import_refusal(with(&Row::u, 1e5), format), {"column \"u\" gives inf"});
}

}  // namespace
}  // namespace service
