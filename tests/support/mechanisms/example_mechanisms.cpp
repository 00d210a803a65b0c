#include "tests/support/mechanisms/example_mechanisms.hpp"

#include <Eigen/Geometry>
#include <cassert>
#include <cmath>
#include <string>

namespace estimator {

Eigen::Matrix3d make_joint_frame(const Eigen::Vector3d& axis,
                                 const Eigen::Vector3d& zero_direction) {
  assert(std::abs(axis.norm() - 1.0) < 1e-12 && std::abs(zero_direction.norm() - 1.0) < 1e-12);
  assert(std::abs(axis.dot(zero_direction)) < 1e-12);
  Eigen::Matrix3d frame;
  frame << axis, zero_direction, axis.cross(zero_direction);
  return frame;
}

void set_inertia(Mechanism& mechanism, int body, const Eigen::Vector3d& moments) {
  mechanism.parameter(body, BodyParameter::kJxx).value = moments.x();
  mechanism.parameter(body, BodyParameter::kJyy).value = moments.y();
  mechanism.parameter(body, BodyParameter::kJzz).value = moments.z();
}

void set_joint_points(Mechanism& mechanism, int joint, const Eigen::Vector3d& point_a,
                      const Eigen::Vector3d& point_b) {
  constexpr JointParameter kPointA[] = {JointParameter::kPointAx, JointParameter::kPointAy,
                                        JointParameter::kPointAz};
  constexpr JointParameter kPointB[] = {JointParameter::kPointBx, JointParameter::kPointBy,
                                        JointParameter::kPointBz};
  for (int i = 0; i < 3; ++i) {
    mechanism.joint_parameter(joint, kPointA[i]).value = point_a[i];
    mechanism.joint_parameter(joint, kPointB[i]).value = point_b[i];
  }
}

Mechanism make_pendulum(const PendulumDescription& description) {
  const Eigen::Vector3d x = Eigen::Vector3d::UnitX(), y = Eigen::Vector3d::UnitY(),
                        z = Eigen::Vector3d::UnitZ();
  Mechanism mechanism;
  mechanism.name = "pendulum";
  mechanism.bodies = {{.name = "P"}};
  Joint joint;
  joint.name = "1";
  joint.frame_a = make_joint_frame(z, -y);
  joint.frame_b = make_joint_frame(z, x);
  joint.motor.present = description.motorised;
  mechanism.joints = {joint};
  make_parameters(mechanism);

  mechanism.parameter(0, BodyParameter::kMass).value = description.mass;
  set_inertia(mechanism, 0,
              {description.inertia_axial, description.inertia_swing, description.inertia_swing});
  set_joint_points(mechanism, 0, Eigen::Vector3d::Zero(), -description.distance * x);
  return mechanism;
}

Mechanism make_furuta(const FurutaDescription& description) {
  const Eigen::Vector3d x = Eigen::Vector3d::UnitX(), y = Eigen::Vector3d::UnitY(),
                        z = Eigen::Vector3d::UnitZ();
  Mechanism mechanism;
  mechanism.name = "furuta";
  mechanism.bodies = {{.name = "A"}, {.name = "B"}};
  Joint arm;
  arm.name = "1";
  arm.body_b = 0;
  arm.frame_a = make_joint_frame(y, x);
  arm.frame_b = make_joint_frame(z, x);
  arm.motor.present = true;
  Joint pendulum;
  pendulum.name = "2";
  pendulum.body_a = 0;
  pendulum.body_b = 1;
  pendulum.frame_a = make_joint_frame(x, -z);
  pendulum.frame_b = make_joint_frame(y, x);
  mechanism.joints = {arm, pendulum};
  make_parameters(mechanism);

  mechanism.parameter(0, BodyParameter::kMass).value = description.mass_A;
  mechanism.parameter(1, BodyParameter::kMass).value = description.mass_B;
  set_inertia(mechanism, 0, description.inertia_A);
  set_inertia(mechanism, 1, description.inertia_B);
  set_joint_points(mechanism, 0, Eigen::Vector3d::Zero(), -description.distance_A * x);
  set_joint_points(mechanism, 1, (description.arm_length - description.distance_A) * x,
                   -description.distance_B * x);
  return mechanism;
}

namespace {

Joint make_link_joint(int number, int body_a, int body_b) {
  const Eigen::Vector3d x = Eigen::Vector3d::UnitX(), y = Eigen::Vector3d::UnitY(),
                        z = Eigen::Vector3d::UnitZ();
  Joint joint;
  joint.name = std::to_string(number);
  joint.body_a = body_a;
  joint.body_b = body_b;
  joint.frame_a = body_a == Joint::kGround ? make_joint_frame(z, -y) : make_joint_frame(z, x);
  joint.frame_b = make_joint_frame(z, x);
  return joint;
}

}  // namespace

Mechanism make_chain(const ChainDescription& description) {
  assert(description.links >= 1);
  const int n = description.links;
  Mechanism mechanism;
  mechanism.name = "chain";
  for (int i = 0; i < n; ++i) {
    mechanism.bodies.push_back({.name = std::string("L").append(std::to_string(i + 1))});
    mechanism.joints.push_back(make_link_joint(i + 1, i == 0 ? Joint::kGround : i - 1, i));
  }
  if (description.closing_point) {
    mechanism.joints.push_back(make_link_joint(n + 1, Joint::kGround, n - 1));
    mechanism.joints.back().measured = false;
  }
  make_parameters(mechanism);

  const Eigen::Vector3d tip = 0.5 * description.length * Eigen::Vector3d::UnitX();
  for (int i = 0; i < n; ++i) {
    mechanism.parameter(i, BodyParameter::kMass).value = description.mass;
    set_inertia(mechanism, i,
                {description.inertia_axial, description.inertia_swing, description.inertia_swing});
    set_joint_points(mechanism, i, i == 0 ? Eigen::Vector3d::Zero() : tip, -tip);
  }
  if (description.closing_point) set_joint_points(mechanism, n, *description.closing_point, tip);
  return mechanism;
}

}  // namespace estimator
