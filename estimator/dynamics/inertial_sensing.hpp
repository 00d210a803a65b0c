#pragma once

#include "estimator/dynamics/tree_inverse_dynamics.hpp"
#include "estimator/math/so3.hpp"

// Members of TreeInverseDynamics, included by tree_inverse_dynamics.cpp: readings of body sensors.

namespace estimator {

template <typename T>
void TreeInverseDynamics<T>::make_sensors(const Mechanism& mechanism,
                                          const std::vector<T>& parameters) {
  for (int i = 0; i < mechanism.sensor_count(); ++i) {
    const Sensor& sensor = mechanism.sensors[i];
    const auto vector = [&](SensorParameter first) {
      return parameter_vector(parameters, mechanism.sensor_parameter_index(i, first));
    };
    const auto cross = [&](SensorParameter first) {
      Matrix3 matrix = Matrix3::Constant(T(0.0));
      auto index = static_cast<std::size_t>(mechanism.sensor_parameter_index(i, first));
      for (int row = 0; row < 3; ++row) {
        for (int column = 0; column < 3; ++column) {
          if (row != column) matrix(row, column) = parameters[index++];
        }
      }
      return matrix;
    };
    const BodyPlacement& seat = body_placement(sensor.body);
    sensors_.push_back(
        {.link = seat.link,
         .frame = sensor.frame.transpose() * seat.frame,
         .point = seat.frame.transpose().template cast<T>() *
                  Vector3(vector(SensorParameter::kPointX) - seat.point),
         .mount = vector(SensorParameter::kMountX),
         .bias = {vector(SensorParameter::kRateBiasX), vector(SensorParameter::kForceBiasX)},
         .scale = {vector(SensorParameter::kRateScaleX), vector(SensorParameter::kForceScaleX)},
         .cross = {cross(SensorParameter::kRateCrossXY), cross(SensorParameter::kForceCrossXY)},
         .kind = sensor.kind,
         .has_orientation = sensor.has_orientation(),
         .joint = sensor.joint});
    const SensorTraits::MountingElement of = sensor.kind_traits().of;
    if (of == SensorTraits::MountingElement::kBody) continue;
    sensors_.back().frame = sensor.frame.transpose();
    if (of == SensorTraits::MountingElement::kJoint)
      sensors_.back().point = vector(SensorParameter::kPointX);
  }
}

/// Returns the moment and force that a joint transmits to its body b, about the joint's point and
/// in the body frame.
template <typename T>
std::array<typename TreeInverseDynamics<T>::Vector3, 2> TreeInverseDynamics<T>::joint_reaction(
    std::size_t at) const {
  const Link& link = links_[at];
  const LinkMotion& motion = motions_[at];
  Vector3 moment = motion.moment, force = motion.force;
  if (link.sign < 0.0) {
    // The link is body a, so the reaction on b is opposite; b's point differs in a prismatic joint.
    if (link.slides) {
      const Vector3 way = motion.from_parent - link.from_parent;
      const T along = way.dot(link.mount.col(0).template cast<T>());
      moment[1] -= along * force[2];
      moment[2] += along * force[1];
    }
    for (Vector3* each : {&moment, &force}) {
      const Vector3 of_link = *each;
      *each = -Vector3(of_link[0], motion.cosine * of_link[1] - motion.sine * of_link[2],
                       motion.cosine * of_link[2] + motion.sine * of_link[1]);
    }
  }
  const Matrix3 frame = link.frame.template cast<T>();
  return {frame * moment, frame * force};
}

template <typename T>
std::array<T, static_cast<std::size_t>(JointLoad::kCount)> TreeInverseDynamics<T>::joint_loads(
    int index) const {
  const JointAxis& axis = axes_[index];
  const auto [moment, force] = joint_reaction(link_of_joint_[index]);
  return {axis.torque, axis.motor_torque, axis.torque - axis.motor_torque - axis.passive_torque,
          moment[0],   moment[1],         moment[2],
          force[0],    force[1],          force[2]};
}

/// Returns the world position of a sensor's point for the motion in the last call of
/// `torque_residual`.
template <typename T>
typename TreeInverseDynamics<T>::Vector3 TreeInverseDynamics<T>::sensor_position(
    const MountedSensor& sensor) const {
  Vector3 place = sensor.point;
  for (int at = sensor.link; at >= 0;) {
    const auto own = static_cast<std::size_t>(at);
    place = rotate_into_parent(links_[own], motions_[own], place) + motions_[own].from_parent;
    at = links_[own].parent;
  }
  return place;
}

/// Returns the ideal readings of a sensor's two instruments in the body frame, without bias and
/// scale.
template <typename T>
std::array<typename TreeInverseDynamics<T>::Vector3, 2> TreeInverseDynamics<T>::ideal_readings(
    const MountedSensor& sensor) const {
  using Kind = Sensor::Kind;
  const Vector3 none = Vector3::Constant(T(0.0));
  const auto only = [&](const T& value) -> std::array<Vector3, 2> {
    Vector3 first = none;
    first[0] = value;
    return {first, none};
  };
  const auto link_of_joint = [&] { return link_of_joint_[sensor.joint]; };
  switch (sensor.kind) {
    case Kind::kInertial: {
      if (sensor.link < 0) return {none, up_};
      const LinkMotion& motion = motions_[sensor.link];
      const Vector3 swing = motion.omega.cross(sensor.point);
      return {motion.omega, Vector3(motion.acceleration + motion.alpha.cross(sensor.point) +
                                    motion.omega.cross(swing))};
    }
    case Kind::kForceTorque: {
      const auto [moment, force] = joint_reaction(link_of_joint());
      return {Vector3(moment - sensor.point.cross(force)), force};
    }
    case Kind::kPosition:
      return {sensor_position(sensor), none};
    case Kind::kJointTorque: {
      const Link& link = links_[link_of_joint()];
      const LinkMotion& motion = motions_[link_of_joint()];
      return only(link.sign * (link.slides ? motion.force[0] : motion.moment[0]));
    }
    case Kind::kMotorTorque:
      return only(axes_[sensor.joint].motor_torque);
    case Kind::kDistance: {
      using std::sqrt;
      const Vector3 way = sensor_position(sensor) - sensor.mount;
      return only(sqrt(way.dot(way)));
    }
  }
  return {none, none};
}

template <typename T>
std::array<T, Sensor::kAxes> TreeInverseDynamics<T>::sensor_readings(int sensor) const {
  const MountedSensor& own = sensors_[sensor];
  const std::array<Vector3, 2> of_body = ideal_readings(own);
  std::array<T, Sensor::kAxes> readings;
  const Vector3 back = -own.mount;
  for (std::size_t kind = 0; kind < 2; ++kind) {
    Vector3 along = of_body[kind];
    if (own.has_orientation) {
      const Vector3 nominal = own.frame.template cast<T>() * of_body[kind];
      along = rotate_vector<T>(back, nominal);
      along += Vector3(own.cross[kind] * along);
    }
    for (std::size_t i = 0; i < 3; ++i) {
      readings[3 * kind + i] = own.scale[kind][i] * along[i] + own.bias[kind][i];
    }
  }
  return readings;
}

}  // namespace estimator
