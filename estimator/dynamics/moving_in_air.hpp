#pragma once

#include "estimator/dynamics/parameter_vectors.hpp"
#include "estimator/dynamics/tree_inverse_dynamics.hpp"
#include "estimator/laws/air_drag.hpp"

// Members of TreeInverseDynamics, for tree_inverse_dynamics.cpp: bodies that the air holds back.

namespace estimator {

/// Bodies that are held back; one that is fixed to the ground rests.
template <typename T>
void TreeInverseDynamics<T>::make_drags(const Mechanism& mechanism,
                                        const std::vector<T>& parameters) {
  for (int body = 0; body < mechanism.body_count(); ++body) {
    const Seat& seat = seat_of(body);
    if (seat.link < 0 || !has_air_drag(mechanism, body)) continue;
    const Vector3 point =
        vector_at(parameters, mechanism.index_of_air(body, AirQuantity::kPointX)) - seat.point;
    drags_.push_back(
        {parameter_of(parameters, mechanism.index_of_air(body, AirQuantity::kCoefficient)),
         seat.frame.transpose().template cast<T>() * point, static_cast<std::size_t>(seat.link)});
  }
}

/// The velocity of a link's origin, its parent's being known.
/// @param speed  of the link along its joint, the link's own way
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

/// Adds what a body's drag asks of the joint that carries it.
template <typename T>
void TreeInverseDynamics<T>::resist(const Drag& drag) {
  Motion& motion = motions_[drag.link];
  const Vector3 velocity = motion.velocity + motion.omega.cross(drag.point);
  const Vector3 force = air_drag(drag.coefficient, velocity);
  motion.force += force;
  motion.moment += drag.point.cross(force);
}

}  // namespace estimator
