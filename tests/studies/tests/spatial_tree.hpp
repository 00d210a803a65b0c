#pragma once

#include <Eigen/Geometry>
#include <string>
#include <vector>

#include "estimator/model/mechanism.hpp"
#include "tests/estimator/inertial_sensor.hpp"
#include "tests/studies/motion_observer/instant_program.hpp"
#include "tests/support/mechanisms/example_mechanisms.hpp"

namespace test_support {

/// Returns a mechanism with a trunk on a prismatic joint that carries two arms of two revolute
/// links each. No two axes are parallel, and the end of each arm has an inertial sensor.
inline estimator::Mechanism spatial_tree() {
  using Eigen::AngleAxisd, Eigen::Vector3d;
  estimator::Mechanism mechanism;
  for (int i = 0; i < 5; ++i) mechanism.bodies.push_back({.name = "B" + std::to_string(i)});
  const int parents[] = {estimator::Joint::kGround, 0, 1, 0, 3};
  for (int i = 0; i < 5; ++i) {
    const Eigen::Matrix3d tipped =
        AngleAxisd(0.4 + 0.9 * i, Vector3d(1.0, 0.3 * i, -0.5).normalized()).toRotationMatrix();
    mechanism.joints.push_back(
        {.name = std::to_string(i),
         .kind = i == 0 ? estimator::JointKind::kPrismatic : estimator::JointKind::kRevolute,
         .body_a = parents[i],
         .body_b = i,
         .frame_a = tipped,
         .frame_b = tipped.transpose()});
  }
  estimator::make_parameters(mechanism);
  for (int i = 0; i < 5; ++i) {
    mechanism.parameter(i, estimator::BodyParameter::kMass).value = 0.5 + 0.2 * i;
    estimator::set_inertia(mechanism, i, {0.01, 0.012 + 0.001 * i, 0.015});
    estimator::set_joint_points(mechanism, i, {0.2, 0.05 * i, -0.1}, {-0.15, 0.02, 0.03 * i});
  }
  for (const int body : {2, 4}) {
    add_inertial_sensor(mechanism, "imu" + std::to_string(body), body,
                        {{estimator::SensorParameter::kPointX, 0.1},
                         {estimator::SensorParameter::kPointY, -0.04},
                         {estimator::SensorParameter::kMountZ, 0.3}});
  }
  return mechanism;
}

/// Returns all axes of the mechanism's inertial sensors.
inline std::vector<estimator::InstantAxis> inertial_axes(const estimator::Mechanism& mechanism) {
  std::vector<estimator::InstantAxis> axes;
  for (int i = 0; i < mechanism.sensor_count(); ++i) {
    for (int k = 0; k < estimator::Sensor::kAxes; ++k) {
      axes.push_back({estimator::InstantQuantity::kInertial, i, k});
    }
  }
  return axes;
}

}  // namespace test_support
