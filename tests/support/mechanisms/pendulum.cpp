#include "tests/support/mechanisms/pendulum.hpp"

#include "tests/support/mechanisms/frames.hpp"

namespace estimator {

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

}  // namespace estimator
