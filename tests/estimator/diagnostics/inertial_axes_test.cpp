#include "estimator/diagnostics/signal/channels.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "estimator/model/kinematics/kinematics.hpp"
#include "service/messages/message_text.hpp"
#include "tests/support/mechanisms/example_mechanisms.hpp"
#include "tests/support/mechanisms/reference_rigs.hpp"
#include "tests/support/not_a_number.hpp"

namespace {

using namespace estimator;

constexpr double kAxesPeriod = 2e-3;  // [s]
using test_support::kNaN;

/// A Furuta pendulum with an inertial sensor at an arbitrary pose on the pendulum.
Mechanism with_sensor() {
  const Mechanism plain = make_furuta({});
  Mechanism mechanism = plain;
  mechanism.sensors.push_back({"imu", 1});
  mechanism.parameters.clear();
  make_parameters(mechanism);
  for (const Parameter& known : plain.parameters) {
    test_support::parameter_of(mechanism, known.name) = known;
  }
  mechanism.sensor_parameter(0, SensorParameter::kPointX).value = 0.05;
  mechanism.sensor_parameter(0, SensorParameter::kMountY).value = 0.4;
  return mechanism;
}

/// The sensor's readings while both joints swing, by fine differences of the pose, with bias and
/// noise, and with mounting and place slightly different from the description.
Recording swinging(const Mechanism& mechanism) {
  constexpr int kRows = 1500;
  constexpr double kFine = 1e-4;  // [s]
  const ModelParameterValues values = unpack_parameters(mechanism);
  const Eigen::Matrix3d mount = exp_so3(Eigen::Vector3d(0.1, 0.45, -0.1)).toRotationMatrix();
  const Eigen::Vector3d point(0.04, 0.02, 0.0);
  const auto angles = [](double t) {
    return Eigen::Vector2d(0.8 * std::sin(3.0 * t), 1.2 * std::sin(7.0 * t + 0.5));
  };
  const auto pose = [&](double t) {
    return assemble_configuration(mechanism, values, angles(t))[1];
  };
  const auto place = [&](const Pose& q) { return Eigen::Vector3d(q.r + q.e * point); };
  std::mt19937 random(3);
  std::normal_distribution<double> normal;
  Segment segment;
  segment.period = kAxesPeriod;
  segment.angles.resize(kRows, 2);
  segment.controls.setZero(kRows, 1);
  segment.inertial.resize(kRows, 6);
  for (Eigen::Index k = 0; k < kRows; ++k) {
    const double t = kAxesPeriod * static_cast<double>(k);
    segment.angles.row(k) = angles(t).transpose();
    for (double& angle : segment.angles.row(k)) angle += 1e-3 * normal(random);
    const Pose before = pose(t - kFine), now = pose(t), after = pose(t + kFine);
    const Eigen::Matrix3d to_sensor = (now.e.toRotationMatrix() * mount).transpose();
    const Eigen::Vector3d acceleration =
        (place(after) - 2.0 * place(now) + place(before)) / (kFine * kFine);
    segment.inertial.row(k).head<3>() =
        (to_sensor * left_rotation_difference(after.e, before.e) / (2.0 * kFine)).transpose();
    segment.inertial.row(k).tail<3>() = (to_sensor * (acceleration - values.gravity)).transpose();
    for (int axis = 0; axis < 6; ++axis) {
      segment.inertial(k, axis) += 0.05 + 0.02 * normal(random);
    }
  }
  return {"run", {segment}};
}

const Mechanism& mechanism() {
  static const Mechanism kMechanism = with_sensor();
  return kMechanism;
}

std::vector<Finding> found_after(const std::function<void(Segment&)>& spoil) {
  static const Recording kHonest = swinging(mechanism());
  Recording recording = kHonest;
  spoil(recording.segments[0]);
  return find_inertial_axis_errors(mechanism(), {recording});
}

void expect_advice(const std::vector<Finding>& found, MessageCode code,
                   const std::vector<std::string>& parts) {
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].message.code, code);
  EXPECT_EQ(found[0].severity, Severity::kFault);
  EXPECT_EQ(found[0].channel, "imu");
  const std::string text = service::format_error(found[0].message);
  for (const std::string& part : parts) {
    EXPECT_NE(text.find(part), std::string::npos) << part << " not in: " << text;
  }
}

// Small errors of mounting, position and bias are not reported, nor sensors with few axes or few
// readings.
TEST(InertialAxes, AreNotReportedIfCorrect) {
  EXPECT_TRUE(found_after([](Segment&) {}).empty());
  for (int axis = 0; axis < 6; ++axis) {
    SCOPED_TRACE(axis);
    EXPECT_TRUE(found_after([&](Segment& s) { s.inertial.col(axis).setConstant(kNaN); }).empty());
  }
  EXPECT_TRUE(found_after([](Segment& s) {
                for (Eigen::Index k = 0; k < s.inertial.rows(); ++k) {
                  if (k % 10 != 0) s.inertial.row(k).setConstant(kNaN);
                }
              }).empty());
  EXPECT_TRUE(found_after([](Segment& s) { s.inertial.resize(0, 0); }).empty());
}

TEST(InertialAxes, AreReportedInWrongUnits) {
  expect_advice(found_after([](Segment& s) { s.inertial.rightCols(3) /= 9.80665; }),
                MessageCode::kWrongSensorUnit, {"accelerometer", "in g", "unit: STANDARD_GRAVITY"});
  expect_advice(found_after([](Segment& s) { s.inertial.rightCols(3) *= 9.80665; }),
                MessageCode::kWrongSensorUnit, {"in m/s²", "METER_PER_SECOND_SQUARED"});
  expect_advice(found_after([](Segment& s) { s.inertial.leftCols(3) *= 180.0 / M_PI; }),
                MessageCode::kWrongSensorUnit,
                {"gyroscope", "degrees per second", "DEGREE_PER_SECOND"});
  expect_advice(found_after([](Segment& s) { s.inertial.leftCols(3) /= 180.0 / M_PI; }),
                MessageCode::kWrongSensorUnit, {"in rad/s", "RADIAN_PER_SECOND"});
}

TEST(InertialAxes, AreReportedIfExchangedOrMirrored) {
  expect_advice(found_after([](Segment& s) { s.inertial.col(3).swap(s.inertial.col(4)); }),
                MessageCode::kWrongSensorAxes,
                {"the axis called x is its y", "the axis called y is its x",
                 "assign the column of x to axis y; assign the column of y to axis x"});
  expect_advice(found_after([](Segment& s) { s.inertial.leftCols(3) *= -1.0; }),
                MessageCode::kWrongSensorAxes,
                {"gyroscope", "x is its -x", "z is its -z", "inverted: true"});
  expect_advice(found_after([](Segment& s) {
                  const Eigen::VectorXd x = s.inertial.col(3);
                  s.inertial.col(3) = s.inertial.col(4);
                  s.inertial.col(4) = s.inertial.col(5);
                  s.inertial.col(5) = -x;
                }),
                MessageCode::kWrongSensorAxes, {"x is its y", "y is its z", "z is its -x"});
}

// Without the encoders that determine the body's pose nothing can be compared. A misfit that no
// single error explains is not reported.
TEST(InertialAxes, AreNotReportedIfAmbiguous) {
  EXPECT_TRUE(found_after([](Segment& s) { s.angles.col(0).setConstant(kNaN); }).empty());
  EXPECT_TRUE(found_after([](Segment& s) {
                s.inertial.setRandom();
                s.inertial *= 10.0;
              }).empty());
}

}  // namespace
