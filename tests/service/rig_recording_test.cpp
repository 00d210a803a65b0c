#include <gtest/gtest.h>

#include <map>
#include <numbers>
#include <sstream>
#include <string>

#include "proto/rig.pb.h"
#include "service/recordings/csv_recording.hpp"
#include "service/rig/rig_file.hpp"
#include "tests/support/refusal.hpp"

namespace service {
namespace {

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
      {"SECOND", 0.001}, {"MILLISECOND", 1.0}, {"MICROSECOND", 1000.0}};
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
    test_support::expect_parts(test_support::refusal([&] { (void)pendulum(number, "RADIAN"); }),
                               {"r.textproto:8:", "MICROSECOND"});
    test_support::expect_parts(test_support::refusal([&] { (void)pendulum("SECOND", number); }),
                               {"r.textproto:9:", "RADIAN"});
  }
}

}  // namespace
}  // namespace service
