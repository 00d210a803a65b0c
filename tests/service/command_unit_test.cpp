#include "service/recordings/command_unit.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <sstream>
#include <string>
#include <tuple>

#include "service/recordings/csv_recording.hpp"
#include "service/rig/rig_file.hpp"
#include "tests/support/refusal.hpp"

namespace service {
namespace {

using namespace test_support;

/// Rig with a motor of up to 24 V, whose command is in the column.
std::string rig_text(const std::string& column, const std::string& scale = "") {
  return R"(
    body { name: "arm" mass { value: 0.428 }
           inertia { xx { value: 0.01 } yy { value: 0.01 } zz { value: 0.01 free: true } } }
    joint { name: "pivot"
            parent { body: "ground" axis { z: 1 } zero_direction { y: -1 } }
            child { body: "arm" point { x { value: -0.092 } } axis { z: 1 }
                    zero_direction { x: 1 } }
            motor { control_unit: "V" gain { value: 0.05 free: true } control_max: 24 }
            encoder { } }
    gravity { magnitude { value: 9.82 } }
    recording {
      time { column: "t" }
      angle { joint: "pivot" column: "theta" unit: RADIAN }
      control { joint: "pivot" column: ")" +
         column + "\" " + scale + R"( }
    }
  )";
}

/// Imports a swing with commands of a size, from a file with this header.
ImportedRecording import_commands(const std::string& header, const Rig& rig, double size) {
  std::ostringstream text;
  text << header << '\n';
  for (int k = 0; k < 100; ++k) {
    text << 0.01 * k << ',' << std::sin(0.1 * k) << ',' << size * std::cos(0.2 * k) << '\n';
  }
  return import_csv_text("run.csv", text.str(), *rig.format);
}

std::string notes_of(const ImportedRecording& imported) {
  std::string notes;
  for (const std::string& note : imported.summary.notes) notes += note + "\n";
  return notes;
}

// The unit of a command in thousandths was taken for the whole unit.
TEST(CommandUnit, HasAScale) {
  for (const auto& [name, unit, scale] : {std::tuple("u_mV", "V", 1e-3),
                                          {"u_V", "V", 1.0},
                                          {"current [mA]", "A", 1e-3},
                                          {"torque (mNm)", "N·m", 1e-3},
                                          {"tau_Ncm", "N·m", 1e-2},
                                          {"force_kN", "N", 1e3},
                                          {"PWM %", "duty", 1e-2},
                                          {"u [bit]", "bit", 1.0}}) {
    const auto found = find_command_unit(name);
    ASSERT_TRUE(found.has_value()) << name;
    EXPECT_EQ(found->unit, unit) << name;
    EXPECT_EQ(found->scale, scale) << name;
  }
  EXPECT_FALSE(find_command_unit("u").has_value());
  EXPECT_FALSE(find_command_unit("voltage").has_value());
}

// Volts of the rig file and a duty of the recording gave a motor constant that was 24 times wrong.
TEST(CommandUnit, ThatContradictsTheMotorIsRefused) {
  for (const auto& [column, unit, remedy] :
       {std::tuple("duty", "", "scale: ... in the column's control { } [V per unit of the column]"),
        {"motor_pwm", "", "such as the supply voltage"},
        {"PWM %", "", "such as the supply voltage"},
        {"current [A]", "", "correct control_unit"},
        {"i_mA", "", "correct control_unit"},
        {"u_mV", "", "Write scale: 0.001 in the column's control { }"},
        {"u", "mV", "Write scale: 0.001"},
        {"u", "A", "control_unit: \"V\""}}) {
    const std::string header =
        std::string("t,theta,") + column + (*unit == '\0' ? "" : std::string("\ns,rad,") + unit);
    const Rig rig = parse_rig("rig.textproto", rig_text(column));
    expect_parts(refusal([&] { (void)import_commands(header, rig, 0.5); }),
                 {"run.csv:", ":3: column \"" + std::string(column), remedy, "scale: 1"});
    const Rig converted = parse_rig("rig.textproto", rig_text(column, "scale: 24"));
    EXPECT_NEAR(import_commands(header, converted, 0.5).recording.segments[0].controls(0, 0), 12.0,
                1e-9);
  }
}

TEST(CommandUnit, OfTheMotorOrWithoutMeaningIsAccepted) {
  for (const std::string column : {"u_V", "u [V]", "command", "motor_A", "u [-]", "pwm_voltage"}) {
    const Rig rig = parse_rig("rig.textproto", rig_text(column));
    EXPECT_EQ(notes_of(import_commands("t,theta," + column, rig, 5.0)), "") << column;
  }
}

TEST(CommandUnit, IsDoubtedIfAllCommandsAreSmall) {
  const Rig rig = parse_rig("rig.textproto", rig_text("u"));
  expect_parts(notes_of(import_commands("t,theta,u", rig, 1.0)),
               {"column \"u\": all commands are between -1 and 1", "takes up to 24 V", "scale: 1"});
  EXPECT_EQ(notes_of(import_commands("t,theta,u", rig, 1.1)), "");
  EXPECT_EQ(notes_of(import_commands("t,theta,u", rig, 0.0)), "");
  const Rig sure = parse_rig("rig.textproto", rig_text("u", "scale: 1"));
  EXPECT_EQ(notes_of(import_commands("t,theta,u", sure, 1.0)), "");
  EXPECT_EQ(
      notes_of(import_commands("t,theta,u_V", parse_rig("rig.textproto", rig_text("u_V")), 1.0)),
      "");
}

// A recording of rigcal-daq states the units of its commands.
TEST(CommandUnit, OfARecordingContradictsThatOfTheMotor) {
  expect_parts(describe_unit_contradiction("duty", "arm", "V"),
               {"the commands are in duty", "\"arm\"", "control_unit: \"V\""});
  for (const auto& [stated, own] :
       {std::pair("V", "V"), {"", "V"}, {"1", "V"}, {"V", "1"}, {"Nm", "N·m"}}) {
    EXPECT_EQ(describe_unit_contradiction(stated, "arm", own), "") << stated << " " << own;
  }
}

}  // namespace
}  // namespace service
