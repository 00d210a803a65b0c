#pragma once

#include "estimator/dynamics/tree_inverse_dynamics.hpp"

// Members of TreeInverseDynamics, included by tree_inverse_dynamics.cpp: spherical and free joints.

namespace estimator {

/// Rate k at which the norm of a quaternion approaches 1 [1/s].
inline constexpr double kQuaternionNormRate = 5.0;

/// The quaternion r = (w, v) of a compound joint. With |r| = 1, the angular velocity in the rotated
/// frame is 2 (w v̇ − ẇ v − v × v̇).
template <typename T>
struct TreeInverseDynamics<T>::Quaternion {
  T w;
  Vector3 v;

  /// @param first  index of w among the coordinates
  Quaternion(const VectorX& coordinates, int first)
      : w(coordinates[first]),
        v(coordinates[first + 1], coordinates[first + 2], coordinates[first + 3]) {}

  T dot(const Quaternion& other) const { return w * other.w + v.dot(other.v); }

  /// Returns w v̇ − ẇ v − v × v̇ for a derivative of r.
  Vector3 turn(const Quaternion& derivative) const {
    const Vector3 across = v.cross(derivative.v);
    return w * derivative.v - derivative.w * v - across;
  }

  /// Returns the rotation matrix of r/|r|.
  Matrix3 rotation() const {
    const T scale = T(2.0) / dot(*this);
    Matrix3 matrix;
    for (int i = 0; i < 3; ++i) {
      const int j = (i + 1) % 3, k = (i + 2) % 3;
      matrix(i, i) = T(1.0) - scale * (v[j] * v[j] + v[k] * v[k]);
      matrix(i, j) = scale * (v[i] * v[j] - w * v[k]);
      matrix(j, i) = scale * (v[i] * v[j] + w * v[k]);
    }
    return matrix;
  }
};

/// Returns the vector from the parent point to the child point of a compound joint, in the joint
/// frame of the parent, or the time derivative of this vector.
template <typename T>
typename TreeInverseDynamics<T>::Vector3 TreeInverseDynamics<T>::compound_translation(
    const Link& link, const VectorX& coordinates) {
  if (link.type != Joint::Type::kFree) return Vector3::Constant(T(0.0));
  return {coordinates[link.joint], coordinates[link.joint + 1], coordinates[link.joint + 2]};
}

template <typename T>
void TreeInverseDynamics<T>::compute_compound_motion(std::size_t at, const VectorX& angle,
                                                     const VectorX& rate,
                                                     const VectorX& acceleration) {
  const Link& link = links_[at];
  LinkMotion& motion = motions_[at];
  const Quaternion r(angle, link.quaternion()), dr(rate, link.quaternion()),
      ddr(acceleration, link.quaternion());
  const Matrix3 mount = link.mount.template cast<T>();
  motion.rotation = r.rotation();
  const Vector3 shift = mount * compound_translation(link, angle);
  motion.from_parent = link.from_parent + shift;
  const T scale = T(2.0) / r.dot(r);
  const Vector3 spin = scale * r.turn(dr);
  const Vector3 change = scale * r.turn(ddr) - (scale * r.dot(dr)) * spin;
  Vector3 omega = Vector3::Constant(T(0.0)), alpha = omega, base = up_;
  if (link.parent >= 0) {
    const LinkMotion& parent = motions_[link.parent];
    const Vector3 velocity = mount * compound_translation(link, rate);
    const Vector3 across = parent.omega.cross(motion.from_parent) + T(2.0) * velocity;
    base =
        parent.acceleration + parent.alpha.cross(motion.from_parent) + parent.omega.cross(across);
    omega = rotate_into_link(link, motion, parent.omega);
    alpha = rotate_into_link(link, motion, parent.alpha);
  }
  base += mount * compound_translation(link, acceleration);
  motion.acceleration = rotate_into_link(link, motion, base);
  motion.alpha = alpha + change + omega.cross(spin);
  motion.omega = omega + spin;
  add_inertial_loads(link, motion);
}

/// Sets the imbalances of all coordinates of a compound joint, which has no friction and no motor.
template <typename T>
void TreeInverseDynamics<T>::project_compound_load(std::size_t at, const VectorX& angle,
                                                   const VectorX& rate, const VectorX& acceleration,
                                                   VectorX& residual) {
  const Link& link = links_[at];
  const LinkMotion& motion = motions_[at];
  const int first = link.quaternion();
  const Quaternion r(angle, first), dr(rate, first), ddr(acceleration, first);
  const T square = r.dot(r);
  const Vector3 moment = (T(2.0) / square) * motion.moment;
  const Vector3 across = r.v.cross(moment);
  const double k = kQuaternionNormRate;
  const T norm = T(link.norm_inertia) *
                 (r.dot(ddr) + dr.dot(dr) + (2.0 * k) * r.dot(dr) + (0.5 * k * k) * (square - 1.0));
  residual[first] = norm * r.w - r.v.dot(moment);
  for (int i = 0; i < 3; ++i) {
    residual[first + 1 + i] = norm * r.v[i] + r.w * moment[i] + across[i];
  }
  if (link.type == Joint::Type::kFree) {
    const Vector3 force = motion.rotation * motion.force;
    for (int i = 0; i < 3; ++i) residual[link.joint + i] = force[i];
  }
  for (int j = link.joint; j < first + 4; ++j) axes_[j].torque = residual[j];
}

template <typename T>
typename TreeInverseDynamics<T>::LinkPose TreeInverseDynamics<T>::compound_pose(
    const Link& link, const LinkPose& parent, const VectorX& angle) {
  const Matrix3 mounted = parent.rotation * link.mount.template cast<T>();
  LinkPose pose;
  pose.origin = parent.origin + parent.rotation * link.from_parent +
                mounted * compound_translation(link, angle);
  pose.rotation = mounted * Quaternion(angle, link.quaternion()).rotation();
  return pose;
}

}  // namespace estimator
