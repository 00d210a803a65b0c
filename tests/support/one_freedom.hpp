#pragma once

#include <Eigen/Core>
#include <functional>
#include <vector>

namespace test_support {

/// Poses of all bodies of a mechanism with one degree of freedom, as a function of its coordinate.
struct FreedomPose {
  std::vector<Eigen::Vector3d> centers;    ///< centres of mass of the bodies [m]
  std::vector<Eigen::Matrix3d> rotations;  ///< body → world
  std::vector<double> joints;              ///< coordinates of the joints, smooth [rad or m]
};

/// A mechanism of one degree of freedom, with any loops, from its geometry alone: Lagrange's
/// equation m(s) s̈ + ½ m'(s) ṡ² + V'(s) = Q(s, ṡ) with m and V from differences of the poses. Uses
/// no joint axes, trees or loop closures.
struct OneFreedom {
  std::function<FreedomPose(double)> pose;
  std::vector<double> mass;              ///< [kg]
  std::vector<Eigen::Matrix3d> inertia;  ///< about the centres of mass, body frame [kg·m²]
  std::vector<double> viscous;           ///< of the joints
  std::vector<double> coulomb;           ///< of the joints, constant
  double gravity = 9.82;                 ///< along −y [m/s²]

  /// (s, ṡ) after `duration`, by the classical Runge–Kutta method. No joint may stop on the way.
  Eigen::Vector2d move(const Eigen::Vector2d& start, double duration, int steps) const;

  /// ds/dt = 1 rates of the joints.
  Eigen::VectorXd joint_rates(double s) const;

 private:
  double effective_mass(double s) const;
  double potential(double s) const;
};

}  // namespace test_support
