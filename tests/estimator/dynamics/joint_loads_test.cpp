#include <gtest/gtest.h>

#include <Eigen/Geometry>
#include <random>

#include "estimator/dynamics/tree_inverse_dynamics.hpp"
#include "tests/estimator/dynamics/mechanism_edits.hpp"
#include "tests/estimator/inertial_sensor.hpp"
#include "tests/estimator/newton_loads.hpp"
#include "tests/support/mechanisms/example_mechanisms.hpp"

namespace estimator {
namespace {

using Kind = Sensor::Kind;
using Dynamics = TreeInverseDynamics<double>;

Eigen::Matrix3d turned_about(const Eigen::Vector3d& axis, double angle) {
  return Eigen::AngleAxisd(angle, axis.normalized()).toRotationMatrix();
}

/// A revolute, a prismatic and a revolute joint in series, with tilted axes. The prismatic joint is
/// described from child to parent and driven by its motor.
Mechanism skew_tree() {
  Mechanism mechanism;
  mechanism.bodies = {{.name = "A"}, {.name = "B"}, {.name = "C"}};
  mechanism.joints = {{.name = "1",
                       .body_b = 0,
                       .frame_a = turned_about({1, 2, 0}, 0.7),
                       .frame_b = turned_about({0, 1, 1}, -0.4)},
                      {.name = "2",
                       .kind = JointKind::kPrismatic,
                       .body_a = 1,
                       .body_b = 0,
                       .frame_a = turned_about({1, 0, 1}, 1.1),
                       .frame_b = turned_about({0, 1, -1}, 0.5),
                       .motor = {.present = true}},
                      {.name = "3",
                       .body_a = 2,
                       .body_b = 1,
                       .frame_a = turned_about({1, 1, 1}, -0.9),
                       .frame_b = turned_about({2, 1, 0}, 0.3)}};
  make_parameters(mechanism);
  std::mt19937 random(3);
  std::uniform_real_distribution<double> number(-0.2, 0.2);
  for (int j = 0; j < 3; ++j) {
    for (int k = 0; k < 6; ++k) {
      mechanism.joint_parameter(j, static_cast<JointParameter>(k)).value = number(random);
    }
    mechanism.joint_parameter(j, JointParameter::kViscous).value = 0.1;
  }
  for (int b = 0; b < 3; ++b) {
    mechanism.parameter(b, BodyParameter::kMass).value = 0.5 + b;
    set_inertia(mechanism, b, {0.02, 0.03, 0.025});
    mechanism.parameter(b, BodyParameter::kJxy).value = 0.003;
  }
  mechanism.joint_parameter(1, JointParameter::kMotorGain).value = 2.0;
  mechanism.joint_parameter(1, JointParameter::kBackEmf).value = 0.3;
  mechanism.joint_parameter(1, JointParameter::kStiffness).value = 4.0;
  mechanism.joint_parameter(1, JointParameter::kConstantTorque).value = 0.7;
  mechanism.joint_parameter(1, JointParameter::kShaftInertia).value = 0.2;
  mechanism.parameter(GravityParameter::kTiltX).value = 0.1;
  return mechanism;
}

const Eigen::Vector3d kAngle(0.4, -0.1, 0.8), kRate(1.5, 0.6, -2.0), kAcceleration(3.0, -4.0, 5.0);
constexpr double kControl = 0.9;

Dynamics moved(const Mechanism& mechanism, JointVector<double>& torque_residual) {
  Dynamics dynamics(mechanism, parameter_values(mechanism));
  dynamics.torque_residual(kAngle, kRate, kAcceleration, Eigen::Vector3d(0.0, kControl, 0.0),
                           torque_residual);
  return dynamics;
}

// Moments and forces of revolute and prismatic joints, described from either side, compared with
// Newton's and Euler's laws for all bodies beyond them.
TEST(JointLoads, SatisfyTheNewtonEulerEquations) {
  const Mechanism mechanism = skew_tree();
  JointVector<double> unused;
  const Dynamics dynamics = moved(mechanism, unused);
  const auto expected = test_support::newton_loads(mechanism, kAngle, kRate, kAcceleration);
  for (int j = 0; j < 3; ++j) {
    const auto loads = dynamics.joint_loads(j);
    const auto at = static_cast<std::size_t>(j);
    const Eigen::Vector3d moment(loads[3], loads[4], loads[5]), force(loads[6], loads[7], loads[8]);
    EXPECT_LT((moment - expected[at].moment).norm(), 1e-4 * moment.norm()) << j;
    EXPECT_LT((force - expected[at].force).norm(), 1e-4 * force.norm()) << j;
    EXPECT_GT(std::abs(moment[0]), 1e-2);
  }
}

// Along the joint: its force or moment about the axis, with the shaft's inertia; the motor's law;
// and the rest, which friction must supply for equilibrium.
TEST(JointLoads, SumToTheJointTorque) {
  const Mechanism mechanism = skew_tree();
  JointVector<double> torque_residual;
  const Dynamics dynamics = moved(mechanism, torque_residual);
  for (int j = 0; j < 3; ++j) {
    const auto loads = dynamics.joint_loads(j);
    const Eigen::Vector3d axis = mechanism.joints[static_cast<std::size_t>(j)].frame_b.col(0);
    const int first = j == 1 ? 6 : 3;
    const double along = axis[0] * loads[static_cast<std::size_t>(first)] +
                         axis[1] * loads[static_cast<std::size_t>(first + 1)] +
                         axis[2] * loads[static_cast<std::size_t>(first + 2)];
    const double shaft = j == 1 ? 0.2 * kAcceleration[1] : 0.0;
    EXPECT_NEAR(loads[0], along + shaft, 1e-12) << j;
    EXPECT_NEAR(loads[1], j == 1 ? 2.0 * (kControl - 0.3 * kRate[1]) : 0.0, 1e-12);
    const double idle = j == 1 ? 0.7 - 4.0 * kAngle[1] : 0.0;
    EXPECT_NEAR(loads[2], loads[0] - loads[1] - idle, 1e-12);
    EXPECT_NEAR(torque_residual[j], loads[2] + 0.1 * kRate[j], 1e-12);
  }
}

/// Adds a sensor to a joint of a mechanism.
Mechanism with_sensor(Mechanism mechanism, Kind kind, int joint,
                      const std::vector<std::pair<SensorParameter, double>>& values) {
  test_support::add_sensor(mechanism,
                           {.name = "s",
                            .body = mechanism.joints[static_cast<std::size_t>(joint)].body_b,
                            .frame = turned_about({0, 0, 1}, 0.5),
                            .kind = kind,
                            .joint = joint},
                           values);
  return mechanism;
}

// A torque sensor reads its joint's or motor's torque, scaled and biased. A six-axis sensor reads
// moment and force along its own axes, the moment about its own point.
TEST(JointLoads, AreMeasuredByForceSensors) {
  JointVector<double> unused;
  for (int j = 0; j < 3; ++j) {
    const auto loads = moved(skew_tree(), unused).joint_loads(j);
    const Mechanism torque =
        with_sensor(skew_tree(), Kind::kJointTorque, j,
                    {{SensorParameter::kRateScaleX, 1.5}, {SensorParameter::kRateBiasX, 0.2}});
    const double along = loads[0] - (j == 1 ? 0.2 * kAcceleration[1] : 0.0);
    EXPECT_NEAR(moved(torque, unused).sensor_readings(0)[0], 1.5 * along + 0.2, 1e-12) << j;

    const Eigen::Vector3d point(0.02, -0.03, 0.05), mount(0.1, -0.2, 0.3);
    const Mechanism six = with_sensor(skew_tree(), Kind::kForceTorque, j,
                                      {{SensorParameter::kPointX, point[0]},
                                       {SensorParameter::kPointY, point[1]},
                                       {SensorParameter::kPointZ, point[2]},
                                       {SensorParameter::kMountX, mount[0]},
                                       {SensorParameter::kMountY, mount[1]},
                                       {SensorParameter::kMountZ, mount[2]},
                                       {SensorParameter::kRateScaleY, 1.1},
                                       {SensorParameter::kRateBiasZ, 0.3},
                                       {SensorParameter::kForceScaleZ, 0.9},
                                       {SensorParameter::kForceBiasX, -2.0}});
    const Eigen::Vector3d force(loads[6], loads[7], loads[8]);
    const Eigen::Vector3d moment =
        Eigen::Vector3d(loads[3], loads[4], loads[5]) - point.cross(force);
    const Eigen::Matrix3d axes = turned_about({0, 0, 1}, 0.5) * exp_so3(mount).toRotationMatrix();
    const Eigen::Vector3d m = axes.transpose() * moment, f = axes.transpose() * force;
    const auto read = moved(six, unused).sensor_readings(0);
    const double expected[] = {m[0], 1.1 * m[1], m[2] + 0.3, f[0] - 2.0, f[1], 0.9 * f[2]};
    for (std::size_t k = 0; k < 6; ++k) EXPECT_NEAR(read[k], expected[k], 1e-12) << j << ' ' << k;
  }
  const Mechanism motor = with_sensor(skew_tree(), Kind::kMotorTorque, 1, {});
  EXPECT_NEAR(moved(motor, unused).sensor_readings(0)[0], 2.0 * (kControl - 0.3 * kRate[1]), 1e-12);
}

}  // namespace
}  // namespace estimator
