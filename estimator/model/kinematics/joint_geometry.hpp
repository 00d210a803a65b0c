#pragma once

#include <Eigen/Core>

#include "estimator/math/so3.hpp"
#include "estimator/model/kinematics/model_values.hpp"
#include "estimator/model/mechanism.hpp"
#include "estimator/model/state.hpp"

namespace estimator {

/// Geometry of one joint in one configuration, in the world frame.
struct JointGeometry {
  Eigen::Vector3d c_a, c_b;       ///< from the centres of mass to the joint point [m]
  Eigen::Vector3d x_a;            ///< x axis of the joint frame on body a
  Eigen::Vector3d x_b, y_b, z_b;  ///< axes of the joint frame on body b; x_b is the joint axis
  Eigen::Vector3d n_y, n_z;       ///< x_a × y_b, x_a × z_b
  Eigen::Matrix<double, 5, 1> g;  ///< constraint violation: point [m], axis [rad]
};

/// Returns the joint geometry for the positions and rotation matrices of bodies a and b. The ground
/// has the identity pose.
inline JointGeometry make_joint_geometry(const Joint& joint, const JointValues& values,
                                         const Eigen::Vector3d& r_a, const Eigen::Matrix3d& R_a,
                                         const Eigen::Vector3d& r_b, const Eigen::Matrix3d& R_b) {
  JointGeometry geometry;
  geometry.c_a.noalias() = R_a * values.point_a;
  geometry.c_b.noalias() = R_b * values.point_b;
  geometry.x_a.noalias() = R_a * joint.frame_a.col(0);
  geometry.x_b.noalias() = R_b * joint.frame_b.col(0);
  geometry.y_b.noalias() = R_b * joint.frame_b.col(1);
  geometry.z_b.noalias() = R_b * joint.frame_b.col(2);
  geometry.n_y = geometry.x_a.cross(geometry.y_b);
  geometry.n_z = geometry.x_a.cross(geometry.z_b);
  geometry.g << r_a + geometry.c_a - r_b - geometry.c_b, geometry.x_a.dot(geometry.y_b),
      geometry.x_a.dot(geometry.z_b);
  return geometry;
}

/// Returns the constraint Jacobian's rows for body a: [I, −[c_a]×; 0, n_yᵀ; 0, n_zᵀ].
inline Eigen::Matrix<double, 5, 6> joint_rows_a(const JointGeometry& geometry) {
  Eigen::Matrix<double, 5, 6> A = Eigen::Matrix<double, 5, 6>::Zero();
  A.topLeftCorner<3, 3>().setIdentity();
  A.topRightCorner<3, 3>() = -hat(geometry.c_a);
  A.block<1, 3>(3, 3) = geometry.n_y.transpose();
  A.block<1, 3>(4, 3) = geometry.n_z.transpose();
  return A;
}

/// Returns the constraint Jacobian's rows for body b: [−I, [c_b]×; 0, −n_yᵀ; 0, −n_zᵀ].
inline Eigen::Matrix<double, 5, 6> joint_rows_b(const JointGeometry& geometry) {
  Eigen::Matrix<double, 5, 6> A = Eigen::Matrix<double, 5, 6>::Zero();
  A.topLeftCorner<3, 3>() = -Eigen::Matrix3d::Identity();
  A.topRightCorner<3, 3>() = hat(geometry.c_b);
  A.block<1, 3>(3, 3) = -geometry.n_y.transpose();
  A.block<1, 3>(4, 3) = -geometry.n_z.transpose();
  return A;
}

/// Derivatives of A y, the product of the constraint Jacobian and a fixed velocity y, by the
/// rotations of the two bodies. Only the angular parts of y contribute.
struct JointRowRotation {
  Eigen::Matrix<double, 5, 3> a;  ///< by the rotation δψ_a of body a
  Eigen::Matrix<double, 5, 3> b;  ///< by the rotation δψ_b of body b
};

/// Returns the derivatives of A y by the two bodies' rotations.
/// @param omega_a, omega_b  angular parts of y for the two bodies; zero for the ground
inline JointRowRotation joint_row_rotation(const JointGeometry& geometry,
                                           const Eigen::Vector3d& omega_a,
                                           const Eigen::Vector3d& omega_b) {
  const Eigen::Vector3d difference = omega_a - omega_b;
  const Eigen::Vector3d& x_a = geometry.x_a;
  const Eigen::Vector3d across = difference.cross(x_a);
  JointRowRotation turn;
  turn.a.topRows<3>().noalias() = -hat(omega_a) * hat(geometry.c_a);
  turn.b.topRows<3>().noalias() = hat(omega_b) * hat(geometry.c_b);
  turn.a.row(3) = x_a.cross(geometry.y_b.cross(difference)).transpose();
  turn.a.row(4) = x_a.cross(geometry.z_b.cross(difference)).transpose();
  turn.b.row(3) = geometry.y_b.cross(across).transpose();
  turn.b.row(4) = geometry.z_b.cross(across).transpose();
  return turn;
}

}  // namespace estimator
