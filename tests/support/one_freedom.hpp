#pragma once

#include <Eigen/Core>
#include <functional>
#include <vector>

namespace test_support {

/// Poses of all bodies of a mechanism with one degree of freedom at one value of its coordinate.
struct FreedomPose {
  std::vector<Eigen::Vector3d> centers;    ///< centres of mass of the bodies [m]
  std::vector<Eigen::Matrix3d> rotations;  ///< body → world
  std::vector<double> joints;              ///< coordinates of the joints, smooth [rad or m]
};

/// Simulator of a mechanism with one degree of freedom s, which may contain loops. It integrates
/// Lagrange's equation m(s) s̈ + ½ m'(s) ṡ² + V'(s) = Q(s, ṡ). It computes the effective mass m and
/// the potential V by differences of the bodies' poses, without joint axes, trees or loop closures.
struct OneFreedom {
  std::function<FreedomPose(double)> pose;
  std::vector<double> mass;              ///< [kg]
  std::vector<Eigen::Matrix3d> inertia;  ///< about the centres of mass, body frame [kg·m²]
  std::vector<double> viscous;           ///< viscous friction of the joints
  std::vector<double> coulomb;           ///< Coulomb friction of the joints, constant
  double gravity = 9.82;                 ///< gravity along −y [m/s²]

  /// Returns coordinate and speed (s, ṡ) after `duration`, by the classical Runge–Kutta method. No
  /// joint may stop during the motion.
  Eigen::Vector2d move(const Eigen::Vector2d& start, double duration, int steps) const;

  /// Returns the joint rates for the unit speed ṡ = 1.
  Eigen::VectorXd joint_rates(double s) const;

 private:
  double effective_mass(double s) const;
  double potential(double s) const;
};

}  // namespace test_support
