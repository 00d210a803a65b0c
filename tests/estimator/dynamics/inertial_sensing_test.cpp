#include <gtest/gtest.h>

#include <Eigen/Geometry>
#include <cmath>

#include "estimator/dynamics/tree_inverse_dynamics.hpp"
#include "estimator/math/so3.hpp"
#include "estimator/model/placement.hpp"
#include "tests/estimator/dynamics/mechanism_edits.hpp"
#include "tests/estimator/inertial_sensor.hpp"
#include "tests/support/mechanisms/example_mechanisms.hpp"

namespace estimator {
namespace {

using namespace test_support;

Mechanism furuta() { return make_furuta(); }

/// Joint coordinates at a time, smooth and large.
Eigen::Vector2d angles_at(double t) {
  return {0.4 + 0.7 * std::sin(3.0 * t), 1.1 * std::cos(2.0 * t) - 0.2 * t};
}

/// Position and orientation of the sensor in the world, from the bodies' poses alone.
struct SensorPose {
  Eigen::Vector3d position;
  Eigen::Matrix3d axes;  ///< sensor → world
};

SensorPose pose_at(const Mechanism& mechanism, double t) {
  const Sensor& sensor = mechanism.sensors.front();
  const auto value = [&](SensorParameter quantity, int axis) {
    return mechanism
        .parameters[static_cast<std::size_t>(mechanism.sensor_parameter_index(0, quantity) + axis)]
        .value;
  };
  const auto vector = [&](SensorParameter first) {
    return Eigen::Vector3d(value(first, 0), value(first, 1), value(first, 2));
  };
  const Pose pose = place_bodies(mechanism, angles_at(t))[static_cast<std::size_t>(sensor.body)];
  const Eigen::Matrix3d body = pose.e.toRotationMatrix();
  return {pose.r + body * vector(SensorParameter::kPointX),
          body * sensor.frame * exp_so3(vector(SensorParameter::kMountX)).toRotationMatrix()};
}

struct Case {
  const char* name;
  Mechanism (*make)();
  int body;
};

class InertialSensing : public testing::TestWithParam<Case> {
 protected:
  Mechanism mechanism() const {
    Mechanism result = GetParam().make();
    add_inertial_sensor(result, "imu", GetParam().body,
                        {{SensorParameter::kPointX, 0.03},
                         {SensorParameter::kPointY, -0.05},
                         {SensorParameter::kPointZ, 0.02},
                         {SensorParameter::kMountX, 0.3},
                         {SensorParameter::kMountY, -0.2},
                         {SensorParameter::kMountZ, 0.8}});
    result.sensors.front().frame =
        Eigen::AngleAxisd(1.1, Eigen::Vector3d(1.0, 2.0, -1.0).normalized()).toRotationMatrix();
    result.parameter(GravityParameter::kTiltX).value = 0.1;
    result.parameter(GravityParameter::kTiltZ).value = -0.2;
    return result;
  }
  std::array<double, 6> readings(const Mechanism& mechanism, double t) const {
    const double h = 1e-4;
    const Eigen::Vector2d before = angles_at(t - h), now = angles_at(t), after = angles_at(t + h);
    TreeInverseDynamics<double>::VectorX q = now, v = (after - before) / (2.0 * h),
                                         a = (after - 2.0 * now + before) / (h * h),
                                         none = Eigen::Vector2d::Zero(), torque;
    TreeInverseDynamics<double> dynamics(mechanism, parameter_values(mechanism));
    dynamics.torque_residual(q, v, a, none, torque);
    return dynamics.sensor_readings(0);
  }
};

// Compares with differences of the sensor's pose. Catches a wrong order of rotations, a point in
// the wrong frame, a missing acceleration term, gravity with the wrong sign.
TEST_P(InertialSensing, MatchesTheSensorsMotion) {
  const Mechanism rig = mechanism();
  const double t = 0.9, h = 1e-4;
  const SensorPose before = pose_at(rig, t - h), now = pose_at(rig, t), after = pose_at(rig, t + h);
  const Eigen::Vector3d acceleration =
      (after.position - 2.0 * now.position + before.position) / (h * h);
  const Eigen::Matrix3d turn = now.axes.transpose() * (after.axes - before.axes) / (2.0 * h);
  const Eigen::Vector3d rate(turn(2, 1), turn(0, 2), turn(1, 0));
  const Eigen::Vector3d force = now.axes.transpose() * (acceleration - gravity_vector(rig));
  const std::array<double, 6> read = readings(rig, t);
  for (std::size_t i = 0; i < 3; ++i) {
    // Second differences of steps of 1e-4 s: rounding 1e-8, truncation of the same size.
    EXPECT_NEAR(read[i], rate[static_cast<Eigen::Index>(i)], 1e-6) << i;
    EXPECT_NEAR(read[3 + i], force[static_cast<Eigen::Index>(i)], 1e-5) << i;
  }
}

// Each axis has its own bias and scale. Catches a mix-up of those of rates and of forces.
TEST_P(InertialSensing, AppliesScaleAndBiasToEachAxis) {
  Mechanism rig = mechanism();
  const std::array<double, 6> plain = readings(rig, 0.3);
  for (int axis = 0; axis < 3; ++axis) {
    const auto set = [&](SensorParameter first, double value) {
      rig.parameters[static_cast<std::size_t>(rig.sensor_parameter_index(0, first) + axis)].value =
          value;
    };
    set(SensorParameter::kRateBiasX, 0.1 * (axis + 1));
    set(SensorParameter::kRateScaleX, 1.0 + 0.1 * axis);
    set(SensorParameter::kForceBiasX, -0.5 * (axis + 1));
    set(SensorParameter::kForceScaleX, 0.9 - 0.1 * axis);
  }
  const std::array<double, 6> read = readings(rig, 0.3);
  for (int axis = 0; axis < 3; ++axis) {
    const auto i = static_cast<std::size_t>(axis);
    EXPECT_NEAR(read[i], (1.0 + 0.1 * axis) * plain[i] + 0.1 * (axis + 1), 1e-12);
    EXPECT_NEAR(read[3 + i], (0.9 - 0.1 * axis) * plain[3 + i] - 0.5 * (axis + 1), 1e-12);
  }
}

// Each axis has its own cross-axis sensitivities and scale. Catches a mix-up of those of rates and
// of forces.
TEST_P(InertialSensing, AppliesCrossAxisSensitivity) {
  Mechanism rig = mechanism();
  const std::array<double, 6> plain = readings(rig, 0.3);
  const auto set = [&](SensorParameter quantity, double value) {
    rig.sensor_parameter(0, quantity).value = value;
  };
  Eigen::Matrix3d of_rates = Eigen::Matrix3d::Identity(), of_forces = of_rates;
  int place = 0;
  for (int row = 0; row < 3; ++row) {
    for (int column = 0; column < 3; ++column) {
      if (row == column) continue;
      of_rates(row, column) = 0.01 * (place + 1);
      of_forces(row, column) = -0.02 * (place + 1);
      const auto after = [&](SensorParameter first) {
        return static_cast<SensorParameter>(static_cast<int>(first) + place);
      };
      set(after(SensorParameter::kRateCrossXY), of_rates(row, column));
      set(after(SensorParameter::kForceCrossXY), of_forces(row, column));
      ++place;
    }
  }
  set(SensorParameter::kRateScaleY, 1.3);
  set(SensorParameter::kForceScaleZ, 0.8);
  const std::array<double, 6> read = readings(rig, 0.3);
  const Eigen::Vector3d rates = of_rates * Eigen::Map<const Eigen::Vector3d>(plain.data());
  const Eigen::Vector3d forces = of_forces * Eigen::Map<const Eigen::Vector3d>(plain.data() + 3);
  for (std::size_t i = 0; i < 3; ++i) {
    const auto axis = static_cast<Eigen::Index>(i);
    EXPECT_NEAR(read[i], (i == 1 ? 1.3 : 1.0) * rates[axis], 1e-12) << i;
    EXPECT_NEAR(read[3 + i], (i == 2 ? 0.8 : 1.0) * forces[axis], 1e-12) << i;
  }
}

// A camera with a tilted mounting, and a wire encoder, compared with the bodies' poses alone.
TEST_P(InertialSensing, MeasuresThePositionOfAPoint) {
  Mechanism rig = mechanism();
  const double t = 0.9;
  const Eigen::Vector3d place = pose_at(rig, t).position;
  const Eigen::Matrix3d frame = rig.sensors.front().frame;

  rig.sensors.front().kind = Sensor::Kind::kPosition;
  rig.sensor_parameter(0, SensorParameter::kRateScaleY).value = 1.2;
  rig.sensor_parameter(0, SensorParameter::kRateBiasZ).value = -0.4;
  const Eigen::Matrix3d turned =
      frame * exp_so3(Eigen::Vector3d(0.3, -0.2, 0.8)).toRotationMatrix();
  const Eigen::Vector3d along = turned.transpose() * place;
  const std::array<double, 6> read = readings(rig, t);
  EXPECT_NEAR(read[0], along[0], 1e-12);
  EXPECT_NEAR(read[1], 1.2 * along[1], 1e-12);
  EXPECT_NEAR(read[2], along[2] - 0.4, 1e-12);

  rig.sensors.front().kind = Sensor::Kind::kDistance;
  rig.sensor_parameter(0, SensorParameter::kRateScaleX).value = 0.9;
  rig.sensor_parameter(0, SensorParameter::kRateBiasX).value = 0.05;
  EXPECT_NEAR(readings(rig, t)[0], 0.9 * (place - Eigen::Vector3d(0.3, -0.2, 0.8)).norm() + 0.05,
              1e-12);
}

INSTANTIATE_TEST_SUITE_P(OnEveryKindOfBody, InertialSensing,
                         testing::Values(Case{"TurnedBody", furuta, 1},
                                         Case{"FirstBody", furuta, 0},
                                         Case{"SlidingBody", cart_with_plate, 0},
                                         Case{"TurnedOnASlide", cart_with_plate, 1},
                                         Case{"WeldedBody", cart_with_plate, 2}),
                         [](const auto& instance) { return instance.param.name; });

}  // namespace
}  // namespace estimator
