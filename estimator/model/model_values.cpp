#include "estimator/model/model_values.hpp"

#include "estimator/model/gravity.hpp"
#include "estimator/model/moments.hpp"

namespace estimator {
namespace {

HingeValues unpack_hinge(const Mechanism& mechanism, int hinge) {
  const auto value = [&](HingeQuantity quantity) {
    return mechanism.hinge_parameter(hinge, quantity).value;
  };
  HingeValues values;
  values.point_a << value(HingeQuantity::kPointAx), value(HingeQuantity::kPointAy),
      value(HingeQuantity::kPointAz);
  values.point_b << value(HingeQuantity::kPointBx), value(HingeQuantity::kPointBy),
      value(HingeQuantity::kPointBz);
  values.viscous = value(HingeQuantity::kViscous);
  values.quadratic_drag = value(HingeQuantity::kQuadraticDrag);
  values.coulomb_torque = value(HingeQuantity::kCoulombTorque);
  values.stribeck_torque = value(HingeQuantity::kStribeckTorque);
  values.stribeck_rate = value(HingeQuantity::kStribeckRate);
  values.load_friction = value(HingeQuantity::kLoadFriction);
  values.load_friction_angular = value(HingeQuantity::kLoadFrictionAngular);
  values.constant_torque = value(HingeQuantity::kConstantTorque);
  values.stiffness = value(HingeQuantity::kStiffness);
  values.rest_angle = value(HingeQuantity::kRestAngle);
  values.motor_gain = value(HingeQuantity::kMotorGain);
  values.shaft_inertia = value(HingeQuantity::kShaftInertia);
  values.back_emf = value(HingeQuantity::kBackEmf);
  values.input_delay = value(HingeQuantity::kInputDelay);
  return values;
}

/// Gravity, and its derivatives.
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
  for (int j = 0; j < mechanism.hinge_count(); ++j) {
    values.hinges.push_back(unpack_hinge(mechanism, j));
  }
  unpack_gravity(mechanism, values);
  return values;
}

}  // namespace estimator
