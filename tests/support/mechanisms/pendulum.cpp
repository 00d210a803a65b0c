#include "tests/support/mechanisms/pendulum.hpp"

#include "estimator/model/mechanisms/frames.hpp"

namespace estimator {

Mechanism make_pendulum(const PendulumDescription& description) {
  const Eigen::Vector3d x = Eigen::Vector3d::UnitX(), y = Eigen::Vector3d::UnitY(),
                        z = Eigen::Vector3d::UnitZ();
  Mechanism mechanism;
  mechanism.name = "pendulum";
  mechanism.bodies = {{.name = "P"}};
  Hinge hinge;
  hinge.name = "1";
  hinge.frame_a = make_hinge_frame(z, -y);
  hinge.frame_b = make_hinge_frame(z, x);
  hinge.motorised = description.motorised;
  mechanism.hinges = {hinge};
  make_parameters(mechanism);

  mechanism.parameter(0, BodyQuantity::kMass).value = description.mass;
  set_inertia(mechanism, 0,
              {description.inertia_axial, description.inertia_swing, description.inertia_swing});
  set_hinge_points(mechanism, 0, Eigen::Vector3d::Zero(), -description.distance * x);
  return mechanism;
}

}  // namespace estimator
