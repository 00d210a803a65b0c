#pragma once

#include <cassert>

#include "estimator/dynamics/tree_inverse_dynamics.hpp"

// Members of TreeInverseDynamics, included by tree_inverse_dynamics.cpp: external wrench on a body.

namespace estimator {

/// Returns the link of a joint's body b, which must be farther from the ground than body a.
template <typename T>
std::size_t TreeInverseDynamics<T>::child_link(int joint) const {
  const std::size_t at = link_of_joint_[static_cast<std::size_t>(joint)];
  assert(links_[at].sign > 0.0);
  return at;
}

template <typename T>
void TreeInverseDynamics<T>::set_external_wrench(int joint, const Vector3& moment,
                                                 const Vector3& force) {
  Link& link = links_[child_link(joint)];
  const Matrix3 into_link = link.frame.transpose().template cast<T>();
  link.push_moment = into_link * moment;
  link.push_force = into_link * force;
}

template <typename T>
std::array<T, 6> TreeInverseDynamics<T>::body_accelerations(int joint) const {
  const std::size_t at = child_link(joint);
  const Matrix3 frame = links_[at].frame.template cast<T>();
  const Vector3 alpha = frame * motions_[at].alpha;
  const Vector3 acceleration = frame * motions_[at].acceleration;
  return {alpha[0], alpha[1], alpha[2], acceleration[0], acceleration[1], acceleration[2]};
}

}  // namespace estimator
