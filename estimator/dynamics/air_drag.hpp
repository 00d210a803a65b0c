#pragma once

#include "estimator/dynamics/parameter_vectors.hpp"
#include "estimator/dynamics/tree_inverse_dynamics.hpp"
#include "estimator/friction/air_drag.hpp"

// Members of TreeInverseDynamics, included by tree_inverse_dynamics.cpp: air drag of bodies.

namespace estimator {

/// Collects bodies with air drag; a body fixed to the ground has none.
template <typename T>
void TreeInverseDynamics<T>::make_drags(const Mechanism& mechanism,
                                        const std::vector<T>& parameters) {
  for (int body = 0; body < mechanism.body_count(); ++body) {
    const BodyPlacement& seat = placement_of(body);
    if (seat.link < 0 || !has_air_drag(mechanism, body)) continue;
    const Vector3 point =
        vector_at(parameters, mechanism.index_of_air(body, AirQuantity::kPointX)) - seat.point;
    drags_.push_back(
        {parameter_of(parameters, mechanism.index_of_air(body, AirQuantity::kCoefficient)),
         seat.frame.transpose().template cast<T>() * point, static_cast<std::size_t>(seat.link)});
  }
}

/// Computes the velocity of a link's origin from that of its parent link's origin.
/// @param speed  rate of the link along its joint, in the link's own direction
template <typename T>
void TreeInverseDynamics<T>::move_origin(std::size_t at, const T& speed) {
  const Link& link = links_[at];
  Motion& motion = motions_[at];
  motion.velocity = Vector3::Constant(T(0.0));
  if (link.parent >= 0) {
    const Motion& parent = motions_[static_cast<std::size_t>(link.parent)];
    const Vector3 swept = parent.velocity + parent.omega.cross(motion.from_parent);
    motion.velocity = into_link(link, motion, swept);
  }
  if (link.slides) motion.velocity[0] += speed;
}

/// Adds the drag of a body to the load of the joint that carries it.
template <typename T>
void TreeInverseDynamics<T>::add_drag(const Drag& drag) {
  Motion& motion = motions_[drag.link];
  const Vector3 velocity = motion.velocity + motion.omega.cross(drag.point);
  const Vector3 force = air_drag(drag.coefficient, velocity);
  motion.force += force;
  motion.moment += drag.point.cross(force);
}

}  // namespace estimator
