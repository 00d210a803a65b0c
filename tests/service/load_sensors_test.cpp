// Sensors of torque and force, from rig file over simulation and recording to estimates.
#include <gtest/gtest.h>

#include <string>

#include "service/recordings/csv_recording.hpp"
#include "service/simulation/scenario.hpp"
#include "service/simulation/simulation.hpp"
#include "tests/service/simulated_recording.hpp"
#include "tests/support/refusal.hpp"

namespace service {
namespace {

using namespace test_support;

/// Two links in series, with a motor on the first. Sensors: the motor's current, its gear's output
/// torque, and moment and force at the second joint.
std::string rig_text(const std::string& sensors, const std::string& columns) {
  return two_links(R"(friction { viscous { value: 0.01 } coulomb_torque { value: 0.005 } }
  motor { control_unit: "V" gain { value: 0.4 } back_emf { value: 0.05 }
          input_delay { value: 0.002 } }
  encoder { })",
                   "friction { viscous { value: 0.002 } } encoder { }") +
         "gravity { magnitude { value: 9.81 } }\n" + sensors +
         "recording { time { column: \"t\" }\n"
         "  angle { joint: \"1\" column: \"x1\" unit: RADIAN }\n"
         "  angle { joint: \"2\" column: \"x2\" unit: RADIAN }\n"
         "  control { joint: \"1\" column: \"u\" }\n" +
         columns + "}\n";
}

const char* const kSensors = R"(
torque_sensor { name: "current" joint: "1" measured_torque: MOTOR torque_per_A: 0.08
  bias { value: 0.02 } scale { value: 0.95 } delay { value: 0.003 } }
torque_sensor { name: "strain" joint: "1" bias { value: -0.05 } scale { value: 1.1 } }
force_torque_sensor { name: "wrist" joint: "2" point { x { value: 0.02 } }
  mounting { z { value: 0.1 } }
  moment { bias { z { value: 0.01 } } }
  force { bias { x { value: 0.3 } } scale { y { value: 0.9 } } } }
)";
const char* const kColumns = R"(
  force_torque { sensor: "current" axis: TORQUE column: "i" unit: AMPERE }
  force_torque { sensor: "strain" axis: TORQUE column: "tau" unit: NEWTON_METER inverted: true }
  force_torque { sensor: "wrist" axis: MOMENT_Z column: "mz" unit: NEWTON_METER }
  force_torque { sensor: "wrist" axis: FORCE_X column: "fx" unit: NEWTON }
  force_torque { sensor: "wrist" axis: FORCE_Y column: "fy" unit: NEWTON }
)";

Rig make_rig() { return parse_rig("r.textproto", rig_text(kSensors, kColumns)); }

estimator::Recording simulated(const Rig& rig, int seed) {
  return simulated_recording(
      rig,
      "duration_s: 6 multisine { motor: \"1\" ramp_s: 0.5 sine { frequency_hz: 0.7 amplitude: 2 } "
      "sine { frequency_hz: 1.3 amplitude: 2 } sine { frequency_hz: 2.9 amplitude: 2 } } "
      "initial { joint: \"2\" angle_rad: 0.5 } noise { angle_standard_deviation_rad: 0.001 "
      "torque_standard_deviation_Nm: 0.01 force_standard_deviation_N: 0.05 seed: " +
          std::to_string(seed) + " }");
}

// The output of `simulate` is read back through the rig file's columns, in its units and signs. A
// reading from before the start is missing.
TEST(LoadSensors, AreSimulatedAndReadBack) {
  const Rig rig = make_rig();
  const estimator::Recording recording = simulated(rig, 1);
  const estimator::Segment& segment = recording.segments.front();
  ASSERT_EQ(segment.inertial.cols(), 18);
  EXPECT_TRUE(segment.inertial.col(0).head(3).array().isNaN().all());
  EXPECT_TRUE(segment.inertial.col(0).tail(segment.sample_count() - 3).allFinite());
  EXPECT_TRUE(segment.inertial.col(6).allFinite());
  for (const int unused : {1, 5, 7, 12, 13, 17}) {
    EXPECT_TRUE(segment.inertial.col(unused).array().isNaN().all()) << unused;
  }
}

// Biases, scales and the mounting are estimated, with masses that no motion identifies, and the
// noise of every axis from its own column.
TEST(LoadSensors, IdentifyTheirConstantsAndMasses) {
  const Rig truth = make_rig();
  Rig rig = make_rig();
  set_free(rig, {{"current.bias", 0.0},
                 {"current.scale", 1.0},
                 {"strain.bias", 0.0},
                 {"strain.scale", 1.0},
                 {"wrist.mount_z", 0.0},
                 {"wrist.p_x", 0.0},
                 {"wrist.moment_bias_z", 0.0},
                 {"wrist.force_bias_x", 0.0},
                 {"B.m", 0.2},
                 {"1.b", 0.02},
                 {"1.K", 0.3}});
  const estimator::Calibration found = calibrate_whole(rig, simulated(truth, 2));
  ASSERT_EQ(found.parameters.size(), 11U);
  expect_truth(found, truth.mechanism);
  ASSERT_EQ(found.inertial.size(), 5U);
  const struct {
    const char* name;
    const char* unit;
    double noise;
  } axes[] = {{"current.torque", "N·m", 0.01},
              {"strain.torque", "N·m", 0.01},
              {"wrist.moment_z", "N·m", 0.01},
              {"wrist.force_x", "N", 0.05},
              {"wrist.force_y", "N", 0.05}};
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(found.inertial[i].name, axes[i].name);
    EXPECT_EQ(found.inertial[i].unit, axes[i].unit);
    EXPECT_NEAR(found.inertial[i].noise, axes[i].noise, 0.1 * axes[i].noise) << axes[i].name;
  }
}

std::string refused(const std::string& sensors, const std::string& columns) {
  return refusal([&] { parse_rig("r.textproto", rig_text(sensors, columns)); });
}

TEST(LoadSensors, RefuseInvalidDescriptions) {
  expect_parts(refused("torque_sensor { name: \"s\" joint: \"1\" measured_torque: MOTOR "
                       "delay { value: 0.002 free: true } }",
                       ""),
               {"r.textproto:", "jumps", "free"});
  const std::string current = "torque_sensor { name: \"s\" joint: \"1\" }\n";
  const std::string wrist = "force_torque_sensor { name: \"w\" joint: \"2\" force { } }\n";
  const auto column = [](const std::string& sensor, const std::string& axis,
                         const std::string& unit) {
    return "force_torque { sensor: \"" + sensor + "\" axis: " + axis +
           " column: \"c\" unit: " + unit + " }\n";
  };
  expect_parts(refused("torque_sensor { name: \"s\" joint: \"9\" }", ""),
               {"r.textproto:", "no moving joint is called \"9\"", "1, 2"});
  expect_parts(refused("torque_sensor { name: \"s\" joint: \"2\" measured_torque: MOTOR }", ""),
               {"\"s\"", "motor of joint \"2\"", "measured_torque: JOINT"});
  expect_parts(refused("torque_sensor { name: \"A\" joint: \"2\" }", ""),
               {"\"A\"", "already used"});
  expect_parts(refused("force_torque_sensor { name: \"w\" joint: \"2\" }", ""),
               {"\"w\" measures nothing", "moment { } or force { }"});
  expect_parts(refused(current, column("x", "TORQUE", "NEWTON_METER")),
               {"no torque or force/torque sensor is called \"x\"", "use one of s"});
  expect_parts(refused(current, column("s", "FORCE_X", "NEWTON")), {"not an axis of sensor \"s\""});
  expect_parts(refused(wrist, column("w", "TORQUE", "NEWTON")), {"not an axis of sensor \"w\""});
  expect_parts(refused(wrist, column("w", "MOMENT_X", "NEWTON_METER")), {"has no moment { }"});
  expect_parts(refused(current, column("s", "TORQUE", "AMPERE")), {"torque_per_A", "\"s\""});
  expect_parts(refused(current, column("s", "TORQUE", "COUNT")), {"counts_per_unit", "\"s\""});
  expect_parts(refused(current, column("s", "TORQUE", "NEWTON")),
               {"a unit of another quantity", "NEWTON_METER, AMPERE or COUNT"});
  expect_parts(refused(wrist, column("w", "FORCE_X", "NEWTON_METER")), {"NEWTON or COUNT"});
  expect_parts(refused(current, column("s", "TORQUE", "NEWTON_METER") +
                                    column("s", "TORQUE", "NEWTON_METER")),
               {"two columns; keep one"});
}

}  // namespace
}  // namespace service
