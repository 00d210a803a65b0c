#include "estimator/diagnostics/repair/gap_command_steps.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "estimator/diagnostics/repair/diagnosed_calibration.hpp"
#include "tests/support/mechanisms/reference_rigs.hpp"

namespace estimator {
namespace {

constexpr double kHiddenPeriod = 4e-3;  // [s]

Mechanism pulsed_description() {
  return test_support::free_furuta(test_support::viscous_furuta(), 1.3);
}

/// Pulses of 0.4 s of either sign with pauses between them, and edges at multiples of 100 rows.
Eigen::VectorXd pulses() {
  constexpr double kLevels[] = {0.0, 2.0, -2.0, 0.0, -1.0, 1.0, 2.0, -1.0};
  Eigen::VectorXd u(1200);
  for (Eigen::Index k = 0; k < u.size(); ++k) u[k] = kLevels[(k / 100) % 8];
  return u;
}

Recording pulsed() {
  return test_support::record(test_support::viscous_furuta(), {0.2, 0.5, 0.0, 0.0}, pulses(),
                              kHiddenPeriod, 5e-4, 5);
}

/// Without rows [first, first + rows).
Recording split(const Recording& whole, const std::vector<std::pair<int, int>>& holes) {
  Recording recording{whole.name, {}};
  int from = 0;
  for (const auto& [first, rows] : holes) {
    recording.segments.push_back(rows_of(whole.segments[0], from, first - from));
    from = first + rows;
  }
  const int all = whole.segments[0].sample_count();
  recording.segments.push_back(rows_of(whole.segments[0], from, all - from));
  return recording;
}

DiagnosedCalibration calibrated(const Recording& recording) {
  return calibrate_with_diagnostics(pulsed_description(), {recording}, {});
}

// Rising and falling edges at the first missing row, after the last, and in between. The recording
// is joined with the commands that acted. Intervals are as wide as with known commands but without
// the readings, and nothing else shifts in time.
TEST(HiddenEdges, AreFoundByTheMotion) {
  const Recording whole = pulsed();
  const std::vector<std::pair<int, int>> holes = {{100, 1}, {299, 1}, {398, 3}, {600, 2}};
  const DiagnosedCalibration found = calibrated(split(whole, holes));
  ASSERT_EQ(found.input.recordings[0].segments.size(), 1U);
  const Segment& joined = found.input.recordings[0].segments[0];
  EXPECT_EQ(joined.controls.rows(), whole.segments[0].controls.rows());
  Recording emptied = whole;
  for (const auto& [first, rows] : holes) {
    EXPECT_EQ(joined.controls.middleRows(first, rows),
              whole.segments[0].controls.middleRows(first, rows))
        << first;
    EXPECT_TRUE(joined.angles.middleRows(first, rows).array().isNaN().all()) << first;
    emptied.segments[0]
        .angles.middleRows(first, rows)
        .setConstant(std::numeric_limits<double>::quiet_NaN());
  }
  const DiagnosedCalibration known = calibrated(emptied);
  ASSERT_EQ(found.calibration.parameters.size(), known.calibration.parameters.size());
  for (std::size_t i = 0; i < known.calibration.parameters.size(); ++i) {
    EXPECT_NEAR(found.calibration.parameters[i].standard_deviation,
                known.calibration.parameters[i].standard_deviation,
                0.05 * known.calibration.parameters[i].standard_deviation)
        << known.calibration.parameters[i].name;
  }
  const auto note = std::ranges::find_if(found.calibration.findings, [](const Finding& finding) {
    return finding.message.code == MessageCode::kGapCommandStep;
  });
  ASSERT_NE(note, found.calibration.findings.end());
  EXPECT_EQ(std::get<int>(*note->message.find("count")), 4);
  EXPECT_EQ(note->severity, Severity::kNote);
  EXPECT_NEAR(note->from, 99 * kHiddenPeriod, 1e-9);
}

// Gaps of other kinds are kept: a command that is not held on both sides or is equal there, rows
// off the grid, and a gap too long to simulate.
TEST(HiddenEdges, AreOnlyBetweenHeldLevels) {
  const Recording parted = split(pulsed(), {{100, 1}});
  const DiagnosedCalibration fitted =
      calibrate_with_diagnostics(pulsed_description(), {parted}, {.repair = false});
  const auto count = [&](const Recording& recording) {
    return find_gap_command_steps(fitted.calibration, {recording}).size();
  };
  ASSERT_EQ(count(parted), 1U);
  for (const std::size_t side : {0U, 1U}) {
    Recording bent = parted;
    const Eigen::Index rows = bent.segments[side].controls.rows();
    bent.segments[side].controls(side == 0 ? rows - 3 : 2, 0) += 0.1;
    EXPECT_EQ(count(bent), 0U) << side;
  }
  Recording level = parted;
  level.segments[1].controls.topRows(50).setZero();
  EXPECT_EQ(count(level), 0U);
  for (const double late : {0.5, 60.0}) {
    Recording off = parted;
    off.segments[0].start -= late * kHiddenPeriod;
    EXPECT_EQ(count(off), 0U) << late;
  }
}

// The motion determines the edge without doubt here, also over several missing rows. The
// second-best row is adjacent to it.
TEST(HiddenEdges, AreBeyondDoubt) {
  for (const int held : {0, 1, 2, 3}) {
    const Recording parted = split(pulsed(), {{300 - held, 3}});
    const DiagnosedCalibration fitted =
        calibrate_with_diagnostics(pulsed_description(), {parted}, {.repair = false});
    const auto edges = find_gap_command_steps(fitted.calibration, {parted});
    ASSERT_EQ(edges.size(), 1U);
    EXPECT_EQ(edges[0].held, held);
    EXPECT_EQ(std::abs(edges[0].next - held), 1);
    EXPECT_LT(edges[0].doubt, 0.1) << held;
  }
}

}  // namespace
}  // namespace estimator
