#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>
#include <numbers>
#include <set>
#include <sstream>
#include <string>

#include "proto/rig.pb.h"
#include "service/recordings/csv_recording.hpp"
#include "service/recordings/joined_segments.hpp"
#include "service/recordings/recording_selection.hpp"
#include "service/rig/parameters/parameter_edits.hpp"
#include "service/rig/rig_file.hpp"
#include "service/text/column_statistics.hpp"
#include "tests/support/parameters.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/source_folder.hpp"

namespace service {
namespace {

using namespace test_support;

/// Two segments of 100 samples at 100 Hz, from 0 s and from 10 s; angles count the rows.
ImportedRecording two_segments() {
  ImportedRecording imported;
  imported.summary.file = "r.csv";
  imported.summary.period = 0.01;
  for (const double start : {0.0, 10.0}) {
    estimator::Segment segment{
        .start = start, .period = 0.01, .angles = Eigen::VectorXd::LinSpaced(100, 0.0, 99.0)};
    segment.controls.resize(100, 0);
    imported.recording.segments.push_back(segment);
  }
  return imported;
}

// At every row: the times of rows are rounded, and so are those that are given.
TEST(RecordingSelection, CutsAtTheTimesGivenInclusively) {
  for (const bool is_regular : {true, false}) {
    for (int from = 0; from <= 90; ++from) {
      const int to = 99 - from / 2;
      ImportedRecording imported = two_segments();
      for (estimator::Segment& segment : imported.recording.segments) {
        for (int k = 0; k < 100 && !is_regular; ++k) segment.times.push_back(0.01 * k);
      }
      RecordingSelection selection;
      selection.from = from / 100.0;
      selection.to = (1000 + to) / 100.0;
      const auto uses = keep_selected_part(selection, imported);
      const std::vector<estimator::Segment>& segments = imported.recording.segments;
      ASSERT_EQ(segments.size(), 2U);
      EXPECT_EQ(segments[0].angles(0, 0), from);
      EXPECT_NEAR(segments[0].start, from / 100.0, 1e-12);
      EXPECT_EQ(segments[0].sample_count(), 100 - from);
      EXPECT_EQ(segments[1].angles(0, 0), 0.0);
      EXPECT_EQ(segments[1].sample_count(), to + 1) << selection.to;
      EXPECT_EQ(uses[1].samples, to + 1);
    }
  }
}

TEST(RecordingSelection, SelectsSegmentsByIndex) {
  ImportedRecording imported = two_segments();
  RecordingSelection selection;
  selection.segments = {1};
  const auto uses = keep_selected_part(selection, imported);
  ASSERT_EQ(imported.recording.segments.size(), 1U);
  EXPECT_EQ(imported.recording.segments[0].start, 10.0);
  EXPECT_EQ(uses[0].samples, 0);
}

TEST(RecordingSelection, RefusesMissingSegments) {
  ImportedRecording imported = two_segments();
  RecordingSelection selection;
  selection.segments = {2};
  expect_parts(refusal([&] { (void)keep_selected_part(selection, imported); }),
               {"r.csv", "no segment 2", "0 to 1"});
  selection.segments.clear();
  selection.from = 5.0;
  selection.to = 6.0;
  expect_parts(refusal([&] { (void)keep_selected_part(selection, imported); }),
               {"r.csv", "--from"});
}

TEST(RecordingSelection, SegmentListsHoldNumbersAndRanges) {
  EXPECT_EQ(parse_segment_list("0,2-4"), (std::vector<int>{0, 2, 3, 4}));
  for (const char* text : {"", "a", "1-", "-1", "1,,2", "3-1"}) {
    expect_parts(refusal([&] { (void)parse_segment_list(text); }), {"0,2-4"});
  }
}

TEST(ParameterEdits, ChangeValueAndFreedom) {
  Rig rig = load_rig(source_folder() + "/configs/rig-furuta.textproto");
  apply_parameter_edits({{"A.J_zz=0.02"}, {"A.J_xx"}, {"1.K", "2.b=0.5"}}, rig.mechanism);
  const auto get = [&](const char* name) { return parameter_of(rig.mechanism, name); };
  EXPECT_EQ(get("A.J_zz").value, 0.02);
  EXPECT_TRUE(get("A.J_zz").free);
  EXPECT_TRUE(get("A.J_xx").free);
  EXPECT_FALSE(get("1.K").free);
  EXPECT_EQ(get("1.K").value, 0.05);
  EXPECT_FALSE(get("2.b").free);
  EXPECT_EQ(get("2.b").value, 0.5);
}

TEST(ParameterEdits, PatternsConcernSeveralParameters) {
  const Rig file = load_rig(source_folder() + "/configs/rig-furuta.textproto");
  estimator::Mechanism mechanism = file.mechanism;
  apply_parameter_edits({{"?.b=0.3"}, {"A.J_*"}, {"*.tau_c", "B.*=0.001"}}, mechanism);
  const auto is_free = [&](const char* name) { return parameter_of(mechanism, name).free; };
  EXPECT_EQ(parameter_of(mechanism, "2.b").value, 0.3);
  EXPECT_TRUE(is_free("A.J_xy"));
  EXPECT_FALSE(is_free("A.m"));
  EXPECT_FALSE(is_free("1.tau_c"));
  EXPECT_FALSE(is_free("2.tau_c"));
  EXPECT_EQ(parameter_of(mechanism, "B.J_zz").value, 0.001);
  expect_parts(refusal([&] {
                 apply_parameter_edits({{}, {}, {"C.*"}}, mechanism);
               }),
               {"--fix C.*: no parameter matches this pattern"});
}

// Otherwise "1.k" for the gain "1.K" would fix the stiffness of a spring.
TEST(ParameterEdits, NamesThatDifferInCaseAreListed) {
  Rig rig = load_rig(source_folder() + "/configs/rig-furuta.textproto");
  expect_parts(refusal([&] {
                 apply_parameter_edits({{}, {}, {"1.k=2"}}, rig.mechanism);
               }),
               {"--fix 1.k: the rig has no such parameter", "1.K", "1.k_s"});
  std::set<std::string> names;
  for (const estimator::Parameter& parameter : rig.mechanism.parameters) {
    std::string name = parameter.name;
    std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::tolower(c); });
    EXPECT_TRUE(names.insert(name).second) << parameter.name;
  }
}

TEST(ParameterEdits, ChangesAreDescribedBesideTheRigFile) {
  const Rig file = load_rig(source_folder() + "/configs/rig-furuta.textproto");
  estimator::Mechanism mechanism = file.mechanism;
  apply_parameter_edits({{"2.b=0.3"}, {"A.J_xx"}, {"1.K=0.06"}}, mechanism);
  EXPECT_EQ(describe_parameter_changes(file.mechanism, mechanism),
            (std::vector<std::string>{
                "A.J_xx is estimated, initial value 0.01 kg·m²; in the rig file it is fixed at "
                "0.01 kg·m²",
                "1.K is fixed at 0.06 N·m/V; in the rig file it is estimated, initial value 0.05 "
                "N·m/V",
                "2.b is estimated, initial value 0.3 N·m·s/rad; in the rig file it is estimated, "
                "initial value 100e-6 N·m·s/rad"}));
}

TEST(ParameterEdits, RefuseInvalidEdits) {
  const auto refusal_of = [](const ParameterEdits& edits) {
    Rig rig = load_rig(source_folder() + "/configs/rig-furuta.textproto");
    return refusal([&] { apply_parameter_edits(edits, rig.mechanism); });
  };
  expect_parts(refusal_of({{}, {}, {"A.Jzz"}}), {"--fix A.Jzz", "did you mean A.J_zz"});
  expect_parts(refusal_of({{"A.J_zz=x"}, {}, {}}), {"--start", "\"x\" is not a number"});
  expect_parts(refusal_of({{"A.J_zz"}, {}, {}}), {"--start", "not a number", "A.J_zz=VALUE"});
  expect_parts(refusal_of({{"A.J_zz=-1"}, {}, {}}), {"outside its bounds"});
}

// White noise of 0.01 on a swing of 1 rad at 1 Hz and 1 kHz: the swing's third difference is
// (2π·1e-3)³ = 2.5e-7, far below the noise. With 20 000 differences the median scatters by 1 %.
TEST(ColumnStatistics, NoiseIsDistinguishedFromMotion) {
  std::vector<double> values;
  unsigned state = 1;
  for (int k = 0; k < 20000; ++k) {
    double uniform_sum = 0.0;  // sum of twelve: nearly normal with variance 1
    for (int i = 0; i < 12; ++i) {
      state = state * 1664525U + 1013904223U;
      uniform_sum += state / 4294967296.0;
    }
    values.push_back(std::sin(2.0 * M_PI * 1e-3 * k) + 0.01 * (uniform_sum - 6.0));
  }
  EXPECT_NEAR(compute_column_statistics(values).noise, 0.01, 0.0005);
  const ColumnStatistics steps = compute_column_statistics({0.0, 0.5, 0.5, NAN, 2.0});
  EXPECT_EQ(steps.observed, 4);
  EXPECT_EQ(steps.smallest_step, 0.5);
  EXPECT_EQ(steps.high, 2.0);
}

// Rounding of a clock's digits is not noise; a clock that jitters, or rises and falls, has noise.
TEST(ColumnStatistics, EvenStepsHaveNoNoise) {
  std::vector<double> clock, written, jittering, falling;
  for (int k = 0; k < 2000; ++k) {
    clock.push_back(1e-3 * k);
    written.push_back(std::round(1e7 / 3.0 * k) * 1e-10);
    jittering.push_back(1e-3 * (k + (k % 3 == 0 ? 1e-3 : 0.0)));
    falling.push_back(-written.back() * (k % 2));
  }
  EXPECT_EQ(compute_column_statistics(clock).noise, 0.0);
  EXPECT_EQ(compute_column_statistics(written).noise, 0.0);
  EXPECT_GT(compute_column_statistics(jittering).noise, 1e-7);
  EXPECT_GT(compute_column_statistics(falling).noise, 0.0);
}

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
  unify_sampling_periods(recordings);
  EXPECT_EQ(recordings[1].segments[0].period, 1.000035e-3);
  EXPECT_EQ(recordings[2].segments[0].period, 2e-3);
  EXPECT_EQ(recordings[3].segments[0].period, 1.0001e-3);  // 65 ppm: another unit
}

Rig pendulum(const std::string& time_unit, const std::string& angle_unit) {
  return parse_rig("r.textproto", R"(
body { name: "B" mass { value: 0.4 }
  inertia { xx { value: 0.001 } yy { value: 0.001 } zz { value: 0.001 } } }
joint { name: "1"
  parent { body: "ground" axis { z: 1 } zero_direction { y: -1 } }
  child { body: "B" point { x { value: -0.1 } } axis { z: 1 } zero_direction { x: 1 } }
  encoder { counts_per_turn: 1000 } }
recording { time { column: "t" unit: )" +
                                      time_unit +
                                      R"( }
  angle { joint: "1" column: "x" unit: )" +
                                      angle_unit + " } }");
}

// A slow motion with time stamps this many units apart.
std::string slow_motion(double spacing) {
  std::ostringstream csv;
  csv << "t,x\n";
  for (int k = 0; k < 20; ++k) csv << k * spacing << ',' << 1e-3 * k << '\n';
  return csv.str();
}

// Every unit of the schema is converted to seconds. A new unit without a row here fails the test.
TEST(RigRecording, EveryTimeUnitIsReadInSeconds) {
  const std::map<std::string, double> millisecond = {
      {"SECOND", 0.001}, {"MILLISECOND", 1.0}, {"MICROSECOND", 1e3}, {"NANOSECOND", 1e6}};
  const auto* units = rigcal::v1::TimeColumn::Unit_descriptor();
  ASSERT_EQ(static_cast<int>(millisecond.size()), units->value_count());
  for (const auto& [unit, spacing] : millisecond) {
    SCOPED_TRACE(unit);
    ASSERT_NE(units->FindValueByName(unit), nullptr);
    const Rig rig = pendulum(unit, "RADIAN");
    const ImportedRecording read = import_csv_text("x.csv", slow_motion(spacing), *rig.format);
    EXPECT_NEAR(read.summary.period, 1e-3, 1e-12);  // round-off of the scaled stamps
  }
}

TEST(RigRecording, EveryAngleUnitIsReadInRadians) {
  const std::map<std::string, double> quarter_turn = {
      {"RADIAN", std::numbers::pi / 2}, {"DEGREE", 90.0}, {"COUNT", 250.0}, {"TURN", 0.25}};
  const auto* units = rigcal::v1::AngleColumn::Unit_descriptor();
  ASSERT_EQ(static_cast<int>(quarter_turn.size()) + 1, units->value_count());  // UNIT_UNSPECIFIED
  for (const auto& [unit, reading] : quarter_turn) {
    SCOPED_TRACE(unit);
    ASSERT_NE(units->FindValueByName(unit), nullptr);
    const Rig rig = pendulum("SECOND", unit);
    ASSERT_EQ(rig.format->angles.size(), 1U);
    EXPECT_DOUBLE_EQ(reading * rig.format->angles[0].scale, std::numbers::pi / 2);
  }
}

// Text-format protobuf accepts any number in place of an enumerator's name.
TEST(RigRecording, RefusesUnitsThatAreNumbers) {
  for (const char* number : {"7", "-1"}) {
    expect_parts(refusal([&] { (void)pendulum(number, "RADIAN"); }),
                 {"r.textproto:8:", "MICROSECOND"});
    expect_parts(refusal([&] { (void)pendulum("SECOND", number); }), {"r.textproto:9:", "RADIAN"});
  }
}

}  // namespace
}  // namespace service
