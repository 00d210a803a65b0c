#pragma once

#include <Eigen/Core>
#include <vector>

#include "estimator/dynamics/tree_inverse_dynamics.hpp"

// Points of TreeInverseDynamics that touch the ground.

namespace estimator {

template <typename T>
void TreeInverseDynamics<T>::make_contact_points(const Mechanism& mechanism,
                                                 const std::vector<T>& parameters) {
  for (int i = 0; i < mechanism.contact_count(); ++i) {
    const GroundContact& contact = mechanism.contacts[static_cast<std::size_t>(i)];
    const BodyPlacement& seat = body_placement(contact.body);
    const Vector3 first = parameter_vector(
        parameters, mechanism.contact_parameter_index(i, ContactParameter::kPointX));
    for (int k = 0; k < contact.point_count(); ++k) {
      Vector3 point = first - seat.point;
      if (k > 0) point[k - 1] += T(GroundContact::kSoleArm);
      contact_points_.push_back({seat.link, seat.frame.transpose().template cast<T>() * point});
    }
  }
}

template <typename T>
void TreeInverseDynamics<T>::contact_positions(const VectorX& angle,
                                               std::vector<T>& positions) const {
  positions.clear();
  const std::vector<LinkPose> at = link_poses(angle);
  for (const ContactPoint& contact : contact_points_) {
    const LinkPose place =
        contact.link < 0 ? LinkPose() : at[static_cast<std::size_t>(contact.link)];
    const Vector3 position = place.origin + place.rotation * contact.point;
    for (int i = 0; i < 3; ++i) positions.push_back(position[i]);
  }
}

}  // namespace estimator
