#pragma once

#include <ceres/rotation.h>

#include <Eigen/Core>
#include <Eigen/Geometry>
#include <array>
#include <cmath>
#include <cstddef>
#include <vector>

#include "estimator/model/mechanism.hpp"

namespace test_support {

/// A pose as in estimator::Pose, in any scalar type.
template <typename T>
struct ScalarPose {
  Eigen::Matrix<T, 3, 1> r;
  Eigen::Quaternion<T> e;
};

/// Returns the difference b ⊟ a of two poses: the world-frame tangent vector at a that leads to b.
template <typename T>
Eigen::Matrix<T, 6, 1> difference(const ScalarPose<T>& b, const ScalarPose<T>& a) {
  const Eigen::Quaternion<T> turn = b.e * a.e.conjugate();
  const T coefficients[4] = {turn.w(), turn.x(), turn.y(), turn.z()};
  Eigen::Matrix<T, 6, 1> delta;
  delta.template head<3>() = b.r - a.r;
  ceres::QuaternionToAngleAxis(coefficients, delta.data() + 3);
  return delta;
}

/// Returns an angle minus the nearest whole number of full turns.
template <typename T>
T within_a_turn(const T& angle) {
  using std::floor;
  return angle - 2.0 * M_PI * floor(angle / (2.0 * M_PI) + 0.5);  // floor has no derivative
}

/// Independent implementation of the joint angles, constraint violations and constraint rows of a
/// mechanism, in any scalar type. With ceres::Jet they are differentiated automatically. Shares the
/// description of a mechanism with the estimator, but no arithmetic.
///
/// Any graph of joints; sizes are template arguments so that nothing allocates.
template <int kBodies, int kJoints>
class ScalarRig {
 public:
  template <typename T>
  using Vector3 = Eigen::Matrix<T, 3, 1>;
  template <typename T>
  using Matrix3 = Eigen::Matrix<T, 3, 3>;
  template <typename T>
  using Row5 = Eigen::Matrix<T, 5, 1>;
  template <typename T>
  using Vector = Eigen::Matrix<T, 6 * kBodies, 1>;
  template <typename T>
  using Rows = Eigen::Matrix<T, 5 * kJoints, 1>;
  template <typename T>
  using Poses = std::array<ScalarPose<T>, kBodies>;

  /// @param mechanism  values of the parameters that are not free
  /// @param free       indices of the parameters given by χ
  ScalarRig(const estimator::Mechanism& mechanism, const std::vector<int>& free)
      : mechanism_(mechanism), position_(mechanism.parameters.size(), -1) {
    for (std::size_t i = 0; i < free.size(); ++i) {
      position_[at(free[i])] = static_cast<int>(i);
    }
  }

  /// Returns the value of a parameter, from the vector χ of free parameters if it is free.
  template <typename T>
  T value(int index, const T* chi) const {
    const int position = position_[at(index)];
    return position < 0 ? T(mechanism_.parameters[at(index)].value) : chi[position];
  }

  /// Returns the violations g of the joints' holonomic constraints, five per joint.
  template <typename T>
  Rows<T> violation(const Poses<T>& q, const T* chi) const {
    return from_joints<T>(q, chi, [](int, const Geometry<T>& geometry) { return geometry.g; });
  }

  /// G v, five per joint.
  template <typename T>
  Rows<T> violation_rate(const Poses<T>& q, const Vector<T>& v, const T* chi) const {
    return from_joints<T>(
        q, chi, [&](int j, const Geometry<T>& geometry) { return apply(j, geometry, v); });
  }

  /// Returns a joint angle up to full turns: twice the half angle of the twist about the axis.
  template <typename T>
  T angle(int joint, const Poses<T>& q) const {
    using std::atan2;
    const estimator::Joint& h = mechanism_.joints[at(joint)];
    Eigen::Quaternion<T> relative = q[at(h.body_b)].e * Eigen::Quaterniond(h.frame_b).cast<T>();
    if (h.body_a != estimator::Joint::kGround) relative = q[at(h.body_a)].e.conjugate() * relative;
    relative = Eigen::Quaterniond(h.frame_a).conjugate().cast<T>() * relative;
    return 2.0 * atan2(relative.x(), relative.w());
  }

 protected:
  using JointParameter = estimator::JointParameter;

  /// Geometry of a joint at one configuration, in the world frame.
  template <typename T>
  struct Geometry {
    std::array<Vector3<T>, 2> arm;  ///< c on body a and on body b; unused for the ground
    Vector3<T> x, y, z;             ///< axes of frame b
    Vector3<T> n_y, n_z;
    Row5<T> g;
  };

  static std::size_t at(int index) { return static_cast<std::size_t>(index); }

  /// Returns the body on one side of a joint, 0 for side a and 1 for side b; negative for the
  /// ground.
  int body_of(int joint, int side) const {
    const estimator::Joint& h = mechanism_.joints[at(joint)];
    return side == 0 ? h.body_a : h.body_b;
  }
  static double sign_of(int side) { return side == 0 ? 1.0 : -1.0; }

  template <typename T>
  T joint_value(int joint, JointParameter quantity, const T* chi) const {
    return value(mechanism_.joint_parameter_index(joint, quantity), chi);
  }
  /// Returns whether a quantity may be non-zero.
  bool acts(int index) const {
    return position_[at(index)] >= 0 || mechanism_.parameters[at(index)].value != 0.0;
  }
  bool joint_acts(int joint, JointParameter quantity) const {
    return acts(mechanism_.joint_parameter_index(joint, quantity));
  }

  template <typename T>
  Vector3<T> point(int joint, int side, const T* chi) const {
    const int first = mechanism_.joint_parameter_index(
        joint, side == 0 ? JointParameter::kPointAx : JointParameter::kPointBx);
    return {value(first, chi), value(first + 1, chi), value(first + 2, chi)};
  }

  /// @param R_of  rotation matrix of a body, body to world
  template <typename T, typename RotationOf>
  Geometry<T> geometry_of(int j, const Poses<T>& q, const RotationOf& R_of, const T* chi) const {
    const estimator::Joint& joint = mechanism_.joints[at(j)];
    const Matrix3<T>& R_b = R_of(joint.body_b);
    Geometry<T> geometry;
    geometry.x = R_b * joint.frame_b.col(0);
    geometry.y = R_b * joint.frame_b.col(1);
    geometry.z = R_b * joint.frame_b.col(2);
    geometry.arm[1] = R_b * point(j, 1, chi);
    Vector3<T> gap, x_a;
    if (joint.body_a == estimator::Joint::kGround) {
      gap = point(j, 0, chi);
      x_a = joint.frame_a.col(0).template cast<T>();
    } else {
      const Matrix3<T>& R_a = R_of(joint.body_a);
      geometry.arm[0] = R_a * point(j, 0, chi);
      gap = q[at(joint.body_a)].r + geometry.arm[0];
      x_a = R_a * joint.frame_a.col(0);
    }
    gap -= q[at(joint.body_b)].r + geometry.arm[1];
    geometry.n_y = x_a.cross(geometry.y);
    geometry.n_z = x_a.cross(geometry.z);
    geometry.g.template head<3>() = gap;
    geometry.g[3] = x_a.dot(geometry.y);
    geometry.g[4] = x_a.dot(geometry.z);
    return geometry;
  }

  /// A_j y: velocity of the joint's point and axes, side a minus side b.
  template <typename T>
  Row5<T> apply(int j, const Geometry<T>& geometry, const Vector<T>& y) const {
    Row5<T> rows = Row5<T>::Zero();
    for (int side = 0; side < 2; ++side) {
      const int body = body_of(j, side);
      if (body < 0) continue;
      const Vector3<T> omega = y.template segment<3>(6 * body + 3);
      const double sign = sign_of(side);
      rows.template head<3>() +=
          sign * (y.template segment<3>(6 * body) + omega.cross(geometry.arm[at(side)]));
      rows[3] += sign * geometry.n_y.dot(omega);
      rows[4] += sign * geometry.n_z.dot(omega);
    }
    return rows;
  }

  /// Adds A_jᵀ λ_j to the impulses on the bodies.
  template <typename T>
  void add_reaction(int j, const Geometry<T>& geometry, const Row5<T>& lambda,
                    Vector<T>& impulse) const {
    const Vector3<T> force = lambda.template head<3>();
    const Vector3<T> couple = lambda[3] * geometry.n_y + lambda[4] * geometry.n_z;
    for (int side = 0; side < 2; ++side) {
      const int body = body_of(j, side);
      if (body < 0) continue;
      const double sign = sign_of(side);
      impulse.template segment<3>(6 * body) += sign * force;
      impulse.template segment<3>(6 * body + 3) +=
          sign * (geometry.arm[at(side)].cross(force) + couple);
    }
  }

  estimator::Mechanism mechanism_;

 private:
  template <typename T, typename Function>
  Rows<T> from_joints(const Poses<T>& q, const T* chi, const Function& function) const {
    std::array<Matrix3<T>, kBodies> R;
    for (int i = 0; i < kBodies; ++i) R[at(i)] = q[at(i)].e.toRotationMatrix();
    const auto R_of = [&](int body) -> const Matrix3<T>& { return R[at(body)]; };
    Rows<T> rows;
    for (int j = 0; j < kJoints; ++j) {
      rows.template segment<5>(5 * j) = function(j, geometry_of(j, q, R_of, chi));
    }
    return rows;
  }

  std::vector<int> position_;  ///< of each parameter in χ, −1 if fixed
};

}  // namespace test_support
