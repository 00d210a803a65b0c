#include "estimator/model/kinematics/model_values.hpp"

#include "estimator/model/gravity.hpp"
#include "estimator/model/moments.hpp"

namespace estimator {
namespace {

JointValues unpack_joint(const Mechanism& mechanism, int joint) {
  const auto value = [&](JointQuantity quantity) {
    return mechanism.joint_parameter(joint, quantity).value;
  };
  JointValues values;
  values.point_a << value(JointQuantity::kPointAx), value(JointQuantity::kPointAy),
      value(JointQuantity::kPointAz);
  values.point_b << value(JointQuantity::kPointBx), value(JointQuantity::kPointBy),
      value(JointQuantity::kPointBz);
  values.viscous = value(JointQuantity::kViscous);
  values.quadratic_drag = value(JointQuantity::kQuadraticDrag);
  values.coulomb_torque = value(JointQuantity::kCoulombTorque);
  values.stribeck_torque = value(JointQuantity::kStribeckTorque);
  values.stribeck_rate = value(JointQuantity::kStribeckRate);
  values.load_friction = value(JointQuantity::kLoadFriction);
  values.load_friction_angular = value(JointQuantity::kLoadFrictionAngular);
  values.constant_torque = value(JointQuantity::kConstantTorque);
  values.stiffness = value(JointQuantity::kStiffness);
  values.rest_angle = value(JointQuantity::kRestAngle);
  values.motor_gain = value(JointQuantity::kMotorGain);
  values.shaft_inertia = value(JointQuantity::kShaftInertia);
  values.back_emf = value(JointQuantity::kBackEmf);
  values.input_delay = value(JointQuantity::kInputDelay);
  return values;
}

/// Computes the gravity vector and its derivatives.
void unpack_gravity(const Mechanism& mechanism, ModelValues& values) {
  constexpr WorldQuantity kQuantities[] = {WorldQuantity::kGravity, WorldQuantity::kTiltX,
                                           WorldQuantity::kTiltZ};
  Dual inputs[3];
  for (int k = 0; k < 3; ++k) {
    inputs[k] = Dual(mechanism.parameter(kQuantities[k]).value, kDualLanes, k);
  }
  const Eigen::Matrix<Dual, 3, 1> gravity = gravity_vector(inputs[0], inputs[1], inputs[2]);
  for (int i = 0; i < 3; ++i) {
    values.gravity[i] = gravity[i].value();
    values.gravity_jacobian.row(i) = gravity[i].derivatives().head<3>();
  }
}

}  // namespace

ModelValues unpack(const Mechanism& mechanism) {
  ModelValues values;
  for (int i = 0; i < mechanism.body_count(); ++i) {
    values.bodies.push_back({mechanism.parameter(i, BodyQuantity::kMass).value,
                             inertia_matrix(moments_of(mechanism, i))});
  }
  for (int j = 0; j < mechanism.joint_count(); ++j) {
    values.joints.push_back(unpack_joint(mechanism, j));
  }
  unpack_gravity(mechanism, values);
  return values;
}

}  // namespace estimator
