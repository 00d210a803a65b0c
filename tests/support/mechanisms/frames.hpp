#pragma once

#include <Eigen/Core>

#include "estimator/model/mechanism.hpp"

namespace estimator {

/// Returns the rotation from a joint frame to the frame in which two perpendicular unit vectors are
/// given. The joint frame has x along `axis` and y along `zero_direction`.
Eigen::Matrix3d make_joint_frame(const Eigen::Vector3d& axis,
                                 const Eigen::Vector3d& zero_direction);

/// Sets the principal moments (J_xx, J_yy, J_zz) of a body [kg·m²]; products are unchanged.
void set_inertia(Mechanism& mechanism, int body, const Eigen::Vector3d& moments);

/// Sets the joint point in the frames of body a and body b [m].
void set_joint_points(Mechanism& mechanism, int joint, const Eigen::Vector3d& point_a,
                      const Eigen::Vector3d& point_b);

}  // namespace estimator
