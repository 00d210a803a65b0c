#include <gtest/gtest.h>

#include <cmath>

#include "service/recordings/recording_selection.hpp"
#include "service/rig/parameters/parameter_edits.hpp"
#include "service/rig/rig_file.hpp"
#include "service/text/column_statistics.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/source_folder.hpp"

namespace service {
namespace {

using test_support::expect_parts;
using test_support::refusal;

/// Two segments of 100 samples at 100 Hz, from 0 s and from 10 s; angles count the rows.
ImportedRecording two_segments() {
  ImportedRecording imported;
  imported.summary.file = "r.csv";
  imported.summary.period = 0.01;
  for (const double start : {0.0, 10.0}) {
    estimator::Segment segment;
    segment.start = start;
    segment.period = 0.01;
    segment.angles = Eigen::VectorXd::LinSpaced(100, 0.0, 99.0);
    segment.controls.resize(100, 0);
    imported.recording.segments.push_back(segment);
  }
  return imported;
}

TEST(Selection, CutsAtTheTimesGivenInclusively) {
  ImportedRecording imported = two_segments();
  Selection selection;
  selection.from = 0.2;
  selection.to = 10.3;
  const auto uses = select_part(selection, imported);
  ASSERT_EQ(imported.recording.segments.size(), 2U);
  EXPECT_EQ(imported.recording.segments[0].angles(0, 0), 20.0);
  EXPECT_NEAR(imported.recording.segments[0].start, 0.2, 1e-12);
  EXPECT_EQ(imported.recording.segments[0].sample_count(), 80);
  EXPECT_EQ(imported.recording.segments[1].sample_count(), 31);
  EXPECT_EQ(uses[1].samples, 31);
}

TEST(Selection, SelectsSegmentsByIndex) {
  ImportedRecording imported = two_segments();
  Selection selection;
  selection.segments = {1};
  const auto uses = select_part(selection, imported);
  ASSERT_EQ(imported.recording.segments.size(), 1U);
  EXPECT_EQ(imported.recording.segments[0].start, 10.0);
  EXPECT_EQ(uses[0].samples, 0);
}

TEST(Selection, RefusesMissingSegments) {
  ImportedRecording imported = two_segments();
  Selection selection;
  selection.segments = {2};
  expect_parts(refusal([&] { (void)select_part(selection, imported); }),
               {"r.csv", "no segment 2", "0 to 1"});
  selection.segments.clear();
  selection.from = 5.0;
  selection.to = 6.0;
  expect_parts(refusal([&] { (void)select_part(selection, imported); }), {"r.csv", "--from"});
}

TEST(Selection, SegmentListsHoldNumbersAndRanges) {
  EXPECT_EQ(parse_segment_list("0,2-4"), (std::vector<int>{0, 2, 3, 4}));
  for (const char* text : {"", "a", "1-", "-1", "1,,2", "3-1"}) {
    expect_parts(refusal([&] { (void)parse_segment_list(text); }), {"0,2-4"});
  }
}

TEST(ParameterEdits, ChangeValueAndFreedom) {
  Rig rig = load_rig(test_support::source_folder() + "/configs/rig-furuta.textproto");
  apply_edits({{"A.J_zz=0.02"}, {"A.J_xx"}, {"1.K", "2.b=0.5"}}, rig.mechanism);
  const auto get = [&](const char* name) {
    return rig.mechanism.parameters[static_cast<std::size_t>(rig.mechanism.find_parameter(name))];
  };
  EXPECT_EQ(get("A.J_zz").value, 0.02);
  EXPECT_TRUE(get("A.J_zz").free);
  EXPECT_TRUE(get("A.J_xx").free);
  EXPECT_FALSE(get("1.K").free);
  EXPECT_EQ(get("1.K").value, 0.05);
  EXPECT_FALSE(get("2.b").free);
  EXPECT_EQ(get("2.b").value, 0.5);
}

TEST(ParameterEdits, RefuseInvalidEdits) {
  const auto refusal_of = [](const ParameterEdits& edits) {
    Rig rig = load_rig(test_support::source_folder() + "/configs/rig-furuta.textproto");
    return refusal([&] { apply_edits(edits, rig.mechanism); });
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
  EXPECT_NEAR(column_statistics(values).noise, 0.01, 0.0005);
  const ColumnStatistics steps = column_statistics({0.0, 0.5, 0.5, NAN, 2.0});
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
  EXPECT_EQ(column_statistics(clock).noise, 0.0);
  EXPECT_EQ(column_statistics(written).noise, 0.0);
  EXPECT_GT(column_statistics(jittering).noise, 1e-7);
  EXPECT_GT(column_statistics(falling).noise, 0.0);
}

}  // namespace
}  // namespace service
