#include "tests/support/mechanisms/furuta.hpp"

#include "tests/support/mechanisms/frames.hpp"

namespace estimator {

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

}  // namespace estimator
