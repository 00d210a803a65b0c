#include "estimator/model/model_values.hpp"

#include <Eigen/Geometry>

#include "estimator/math/so3.hpp"

namespace estimator {
namespace {

BodyValues unpack_body(const Mechanism& mechanism, int body) {
  const auto value = [&](BodyQuantity quantity) {
    return mechanism.parameter(body, quantity).value;
  };
  BodyValues values;
  values.mass = value(BodyQuantity::kMass);
  values.inertia << value(BodyQuantity::kJxx), value(BodyQuantity::kJxy), value(BodyQuantity::kJxz),
      value(BodyQuantity::kJxy), value(BodyQuantity::kJyy), value(BodyQuantity::kJyz),
      value(BodyQuantity::kJxz), value(BodyQuantity::kJyz), value(BodyQuantity::kJzz);
  return values;
}

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
  values.encoder_offset = value(HingeQuantity::kEncoderOffset);
  return values;
}

/// Gravity (0, −g, 0) turned by the rotation vector (tilt_x, 0, tilt_z), and its derivatives.
void unpack_gravity(const Mechanism& mechanism, ModelValues& values) {
  const double g = mechanism.parameter(WorldQuantity::kGravity).value;
  const Eigen::Vector3d tilt(mechanism.parameter(WorldQuantity::kTiltX).value, 0.0,
                             mechanism.parameter(WorldQuantity::kTiltZ).value);
  const Eigen::Vector3d down = exp_so3(tilt) * Eigen::Vector3d(0.0, -1.0, 0.0);
  values.gravity = g * down;
  // exp(tilt + δ) = exp(J_l(tilt) δ) exp(tilt), hence d(gravity) = −[gravity]× J_l δ.
  const Eigen::Matrix3d turn = -hat(values.gravity) * left_jacobian_inverse(tilt).inverse();
  values.gravity_jacobian.col(0) = down;
  values.gravity_jacobian.col(1) = turn.col(0);
  values.gravity_jacobian.col(2) = turn.col(2);
}

}  // namespace

ModelValues unpack(const Mechanism& mechanism) {
  ModelValues values;
  for (int i = 0; i < mechanism.body_count(); ++i) {
    values.bodies.push_back(unpack_body(mechanism, i));
  }
  for (int j = 0; j < mechanism.hinge_count(); ++j) {
    values.hinges.push_back(unpack_hinge(mechanism, j));
  }
  unpack_gravity(mechanism, values);
  return values;
}

}  // namespace estimator
