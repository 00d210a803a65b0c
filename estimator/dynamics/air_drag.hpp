#pragma once

#include "estimator/dynamics/tree_inverse_dynamics.hpp"
#include "estimator/model/joint_friction.hpp"

// Members of TreeInverseDynamics, included by tree_inverse_dynamics.cpp: drag of bodies in still
// air.

namespace estimator {

/// Collects bodies with air drag; a body fixed to the ground has none.
template <typename T>
void TreeInverseDynamics<T>::make_air_drags(const Mechanism& mechanism,
                                            const std::vector<T>& parameters) {
  for (int body = 0; body < mechanism.body_count(); ++body) {
    const BodyPlacement& seat = body_placement(body);
    if (seat.link < 0 || !has_air_drag(mechanism, body)) continue;
    const Vector3 point = parameter_vector(parameters, mechanism.air_drag_parameter_index(
                                                           body, AirDragParameter::kPointX)) -
                          seat.point;
    drags_.push_back(
        {parameters[mechanism.air_drag_parameter_index(body, AirDragParameter::kCoefficient)],
         seat.frame.transpose().template cast<T>() * point, static_cast<std::size_t>(seat.link)});
  }
}

/// Computes the velocity of a link's origin from the velocity of the origin of its parent link.
template <typename T>
void TreeInverseDynamics<T>::move_link_origin(std::size_t at, const VectorX& rate) {
  const Link& link = links_[at];
  LinkMotion& motion = motions_[at];
  motion.velocity = Vector3::Constant(T(0.0));
  if (link.parent >= 0) {
    const LinkMotion& parent = motions_[link.parent];
    const Vector3 swept = parent.velocity + parent.omega.cross(motion.from_parent);
    motion.velocity = rotate_into_link(link, motion, swept);
  }
  if (link.type == Joint::Type::kFree) {
    const Vector3 velocity(rate[link.joint], rate[link.joint + 1], rate[link.joint + 2]);
    motion.velocity += motion.rotation.transpose() * velocity;
  } else if (link.slides && !link.is_compound()) {
    motion.velocity[0] += link.sign * rate[link.joint];
  }
}

/// Adds the drag of a body to the load of the joint that carries it.
template <typename T>
void TreeInverseDynamics<T>::add_air_drag(const LinkAirDrag& drag) {
  LinkMotion& motion = motions_[drag.link];
  const Vector3 velocity = motion.velocity + motion.omega.cross(drag.point);
  const Vector3 force = air_drag_force(drag.coefficient, velocity);
  motion.force += force;
  motion.moment += drag.point.cross(force);
}

}  // namespace estimator
