// Position sensors and sensors with cross-axis errors, from rig file over simulation and recording
// to estimates.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "service/messages/message_text.hpp"
#include "service/recordings/csv_recording.hpp"
#include "service/simulation/scenario.hpp"
#include "service/simulation/simulation.hpp"
#include "tests/service/simulated_recording.hpp"
#include "tests/support/note_text.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/texts.hpp"

namespace service {
namespace {

using namespace test_support;

/// Two links in series, the first with an encoder.
std::string placed_rig_text(const std::string& sensors, const std::string& columns) {
  return two_links("friction { viscous { value: 0.002 } } encoder { }",
                   "friction { viscous { value: 0.001 } }") +
         "gravity { magnitude { value: 9.81 } }\n" + sensors +
         "recording { time { column: \"t\" }\n"
         "  angle { joint: \"1\" column: \"x1\" unit: RADIAN }\n" +
         columns + "}\n";
}

const char* const kCamera = R"(
position_sensor { name: "camera" body: "B" point { x { value: 0.09 } }
  x_axis { y: -1 } y_axis { x: 1 } mounting { z { value: 0.05 } } counts_per_m: 2000
  bias { x { value: 0.3 } y { value: -0.2 } } scale { x { value: 1.02 } y { value: 0.97 } }
  delay { value: 0.03 } }
)";
const char* const kWire = R"(
distance_sensor { name: "wire" body: "B" point { y { value: 0.01 } }
  anchor { x { value: 0.5 } y { value: 0.1 } } bias { value: 0.02 } delay { value: 0.004 } }
)";
const char* const kPlaces = R"(
  position_sensor { sensor: "camera" axis: X column: "px" unit: COUNT inverted: true }
  position_sensor { sensor: "camera" axis: Y column: "py" unit: MILLIMETER }
  position_sensor { sensor: "wire" axis: DISTANCE column: "d" unit: METER }
)";

Rig placed_rig() {
  return parse_rig("r.textproto", placed_rig_text(std::string(kCamera) + kWire, kPlaces));
}

estimator::Recording placed_run(const Rig& rig, int seed) {
  return simulated_recording(
      rig,
      "duration_s: 6 release { } initial { joint: \"1\" angle_rad: 1.4 } "
      "initial { joint: \"2\" angle_rad: -0.9 } noise { angle_standard_deviation_rad: 0.0005 "
      "position_standard_deviation_m: 0.0004 gyroscope_standard_deviation_rad_per_s: 0.005 "
      "accelerometer_standard_deviation_m_per_s2: 0.03 seed: " +
          std::to_string(seed) + " }");
}

// A joint without encoder that a camera and a wire encoder measure: constants of both, and
// friction, with the noise of every axis from its own column.
TEST(PlaceSensors, IdentifyTheirConstantsAndAJointWithoutEncoder) {
  const Rig truth = placed_rig();
  Rig rig = placed_rig();
  set_free(rig, {{"camera.mount_z", 0.0},
                 {"camera.bias_x", 0.0},
                 {"camera.bias_y", 0.0},
                 {"camera.scale_x", 1.0},
                 {"camera.delay", 0.0},
                 {"wire.anchor_x", 0.45},
                 {"wire.anchor_y", 0.0},
                 {"2.b", 0.004},
                 {"B.J_zz", 0.003}});
  const estimator::Calibration found = calibrate_whole(rig, placed_run(truth, 3));
  expect_truth(found, truth.mechanism);
  ASSERT_EQ(found.inertial.size(), 3U);
  const char* const names[] = {"camera.x", "camera.y", "wire.distance"};
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(found.inertial[i].name, names[i]);
    EXPECT_EQ(found.inertial[i].unit, "m");
    EXPECT_NEAR(found.inertial[i].noise, 0.0004, 0.1 * 0.0004) << names[i];
  }
}

const char* const kImu = R"(
inertial_sensor { name: "imu" body: "A" point { x { value: 0.05 } }
  gyroscope { cross_axis { xz { value: 0.02 } } }
  accelerometer { cross_axis { xy { value: -0.015 } yx { value: 0.01 } } } }
)";
const char* const kImuColumns = R"(
  position_sensor { sensor: "camera" axis: X column: "px" unit: METER }
  position_sensor { sensor: "camera" axis: Y column: "py" unit: METER }
  inertial { sensor: "imu" axis: GYRO_X column: "gx" unit: RADIAN_PER_SECOND }
  inertial { sensor: "imu" axis: GYRO_Z column: "gz" unit: RADIAN_PER_SECOND }
  inertial { sensor: "imu" axis: ACCEL_X column: "ax" unit: METER_PER_SECOND_SQUARED }
  inertial { sensor: "imu" axis: ACCEL_Y column: "ay" unit: METER_PER_SECOND_SQUARED }
)";

// The cross-axis sensitivity of a data sheet is enough: all six are free, identifiable ones are
// estimated, the others keep their prior.
TEST(CrossAxisSensitivity, AreEstimatedWithADataSheetPrior) {
  const Rig truth =
      parse_rig("r.textproto", placed_rig_text(std::string(kCamera) + kImu, kImuColumns));
  std::string sheet = kImu;
  for (const char* const known :
       {"xz { value: 0.02 }", "xy { value: -0.015 } yx { value: 0.01 }"}) {
    sheet = replaced(sheet, known, "deviation_percent: 2");
  }
  const Rig rig =
      parse_rig("r.textproto", placed_rig_text(std::string(kCamera) + sheet, kImuColumns));
  const estimator::Calibration found = calibrate_whole(rig, placed_run(truth, 4));
  expect_truth(found, truth.mechanism);
  const auto deviation_of = [&](const std::string& name) {
    const auto each =
        std::ranges::find(found.parameters, name, &estimator::ParameterEstimate::name);
    EXPECT_NE(each, found.parameters.end()) << name << " is not estimated";
    return each == found.parameters.end() ? NAN : each->standard_deviation;
  };
  EXPECT_LT(deviation_of("imu.gyro_cross_xz"), 0.001);
  EXPECT_LT(deviation_of("imu.accel_cross_xy"), 0.005);
  EXPECT_NEAR(deviation_of("imu.accel_cross_zx"), 0.02, 1e-4);  // nothing depends on z
}

// A value that a calibration writes beside the deviation is the next start; a prior of its own
// takes precedence.
TEST(CrossAxisSensitivity, StayFreeIfTheyHaveAValue) {
  const Rig rig =
      parse_rig("r.textproto", placed_rig_text(R"(inertial_sensor { name: "imu" body: "A"
        gyroscope { cross_axis { deviation_percent: 2 xz { value: 0.004 }
          zx { value: 0.01 prior_mean: 0.02 prior_standard_deviation: 0.003 } } } })",
                                               ""));
  const auto share = [&](const char* name) { return parameter_of(rig.mechanism, name); };
  for (const char* const name : {"imu.gyro_cross_xz", "imu.gyro_cross_zx", "imu.gyro_cross_xy"}) {
    EXPECT_TRUE(share(name).free) << name;
  }
  EXPECT_EQ(share("imu.gyro_cross_xz").value, 0.004);
  EXPECT_EQ(share("imu.gyro_cross_xz").prior_mean, 0.0);
  EXPECT_EQ(share("imu.gyro_cross_xz").prior_standard_deviation, 0.02);
  EXPECT_EQ(share("imu.gyro_cross_zx").prior_mean, 0.02);
  EXPECT_EQ(share("imu.gyro_cross_zx").prior_standard_deviation, 0.003);
  EXPECT_FALSE(share("imu.accel_cross_xz").free);
}

// If the rig file omits cross-axis errors, the verdict reports it with the text to add. Without
// such errors it does not.
TEST(CrossAxisSensitivity, AreReportedIfNotDescribed) {
  const std::string with_camera = kCamera;
  Rig truth = parse_rig("r.textproto", placed_rig_text(with_camera + kImu, kImuColumns));
  Rig rig = truth;
  for (const char* const share :
       {"imu.gyro_cross_xz", "imu.accel_cross_xy", "imu.accel_cross_yx"}) {
    parameter_of(rig.mechanism, share).value = 0.0;
  }
  set_free(rig, {{"imu.p_x", 0.05}, {"imu.mount_z", 0.0}, {"2.b", 0.001}, {"B.J_zz", 0.002}});
  const estimator::Calibration found = calibrate_whole(rig, placed_run(truth, 5));
  EXPECT_EQ(found.verdict.kind, estimator::VerdictKind::kApproximate)
      << format_verdict(found.verdict);
  expect_parts(format_verdict(found.verdict), {"sensor \"imu\"", "cross-axis sensitivity"});
  ASSERT_FALSE(found.cross_axes.empty());
  const std::string all_notes = text_of_notes(found.notes);
  expect_parts(all_notes, {"accelerometer axes of sensor \"imu\"", "deviation_percent: 2",
                           "accelerometer { }"});

  const estimator::Calibration square = calibrate_whole(rig, placed_run(rig, 6));
  EXPECT_TRUE(square.cross_axes.empty());
  EXPECT_EQ(square.verdict.kind, estimator::VerdictKind::kAccepted)
      << format_verdict(square.verdict);
}

// A gyroscope axis across a planar motion should read nothing. Its readings change no estimate, and
// would otherwise pass for noise.
TEST(CrossAxisSensitivity, WithoutEffectAreReportedWithTheirSize) {
  const std::string columns = R"(
  inertial { sensor: "imu" axis: GYRO_X column: "gx" unit: RADIAN_PER_SECOND }
  inertial { sensor: "imu" axis: GYRO_Z column: "gz" unit: RADIAN_PER_SECOND }
)";
  Rig truth = parse_rig("r.textproto", placed_rig_text(R"(
inertial_sensor { name: "imu" body: "B" gyroscope { cross_axis { xz { value: 0.05 } } } }
)",
                                                       columns));
  Rig rig = truth;
  set_free(rig, {{"2.b", 0.001}, {"B.J_zz", 0.002}});
  parameter_of(rig.mechanism, "imu.gyro_cross_xz").value = 0.0;
  const estimator::Calibration found = calibrate_whole(rig, placed_run(truth, 7));
  EXPECT_EQ(found.verdict.kind, estimator::VerdictKind::kApproximate)
      << format_verdict(found.verdict);
  ASSERT_EQ(found.cross_axes.size(), 1U);
  EXPECT_EQ(found.cross_axes[0].share, "imu.gyro_cross_xz");
  EXPECT_NEAR(found.cross_axes[0].value, 0.05, 0.002);
  EXPECT_EQ(found.cross_axes[0].moved, "");
  const std::string all_notes = text_of_notes(found.notes);
  expect_parts(all_notes,
               {"gyroscope axes of sensor \"imu\"", "cross-axis sensitivity", "gyroscope { }"});

  const estimator::Calibration square = calibrate_whole(rig, placed_run(rig, 8));
  EXPECT_TRUE(square.cross_axes.empty());
}

std::string refused_places(const std::string& sensors, const std::string& columns) {
  return refusal([&] { parse_rig("r.textproto", placed_rig_text(sensors, columns)); });
}

TEST(PlaceSensors, RefuseInvalidDescriptions) {
  const auto column = [](const char* sensor, const char* axis, const char* unit) {
    return std::string("position_sensor { sensor: \"") + sensor + "\" axis: " + axis +
           " column: \"c\" unit: " + unit + " }\n";
  };
  expect_parts(refused_places("position_sensor { name: \"p\" body: \"ground\" }", ""),
               {"r.textproto:", "cannot be on the ground"});
  expect_parts(refused_places("distance_sensor { name: \"p\" body: \"C\" }", ""),
               {"no body is called \"C\""});
  expect_parts(
      refused_places("position_sensor { name: \"p\" body: \"A\" x_axis { x: 1 } y_axis { x: 2 } }",
                     ""),
      {"\"p\"", "parallel"});
  expect_parts(refused_places("distance_sensor { name: \"A\" body: \"A\" }", ""),
               {"\"A\"", "already used"});
  expect_parts(refused_places(kWire, column("x", "DISTANCE", "METER")),
               {"no position or distance sensor is called \"x\"", "use one of wire"});
  expect_parts(refused_places("", column("x", "X", "METER")), {"add position_sensor"});
  expect_parts(refused_places(kWire, column("wire", "X", "METER")), {"Write axis: DISTANCE"});
  expect_parts(refused_places(kCamera, column("camera", "DISTANCE", "METER")),
               {"Write axis: X, Y or Z"});
  expect_parts(refused_places(kWire, column("wire", "DISTANCE", "COUNT")), {"counts_per_m"});
  expect_parts(refused_places(kWire, column("wire", "DISTANCE", "UNIT_UNSPECIFIED")),
               {"has no unit", "METER, MILLIMETER or COUNT"});
  expect_parts(refused_places(kWire, column("wire", "DISTANCE", "METER") +
                                         column("wire", "DISTANCE", "METER")),
               {"two columns; keep one"});
}

}  // namespace
}  // namespace service
