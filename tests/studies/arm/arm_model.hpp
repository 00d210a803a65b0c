#pragma once

#include <Eigen/Core>
#include <vector>

namespace service {

/// One link of an arm and the joint that carries it. The origin of the link's frame is at the
/// joint; its z axis is the joint's axis.
struct ArmLink {
  using Standard = Eigen::Matrix<double, 10, 1>;

  Eigen::Matrix3d mount = Eigen::Matrix3d::Identity();  ///< link frame at angle 0 → link before
  Eigen::Vector3d point = Eigen::Vector3d::Zero();      ///< joint in the frame of the link before
  /// I_xx, I_yy, I_zz, I_xy, I_xz, I_yz about the joint [kg·m²], m c [kg·m], m [kg].
  Standard standard = Standard::Zero();
  double viscous = 0.0;  ///< b [N·m·s/rad]
  double coulomb = 0.0;  ///< τ_c [N·m]
  double gain = 1.0;     ///< K: torque per unit of control [-]
  double shaft = 0.0;    ///< J_shaft: inertia about the joint's axis [kg·m²]
};

/// A serial arm on the ground, world y up.
///
/// Equations in minimal coordinates, linear in the standard parameters. They share no code with the
/// estimator, so that they can validate its estimates.
struct Arm {
  std::vector<ArmLink> links;
  double gravity = 9.82;  ///< [m/s²]

  int size() const { return static_cast<int>(links.size()); }
};

/// Coefficients Y of the standard parameters of all links: joint torques without rotors and
/// friction are Y π; n × 10 n [Atkeson, An & Hollerbach 1986].
Eigen::MatrixXd torque_regressor(const Arm& arm, const Eigen::VectorXd& angle,
                                 const Eigen::VectorXd& rate, const Eigen::VectorXd& acceleration);

/// Coefficients of the sum of kinetic and potential energy, 10 n [MTM, eqs. 67–69].
Eigen::VectorXd energy_regressor(const Arm& arm, const Eigen::VectorXd& angle,
                                 const Eigen::VectorXd& rate);

/// Standard parameters of all links, 10 n.
Eigen::VectorXd standard_parameters(const Arm& arm);

/// Kinetic plus potential energy, including the rotors [J].
double energy_of(const Arm& arm, const Eigen::VectorXd& angle, const Eigen::VectorXd& rate);

/// Inertias and loads of an arm in one state.
struct ArmState {
  Eigen::MatrixXd mass;  ///< including rotors [kg·m²]
  Eigen::VectorXd bias;  ///< torques at zero acceleration: centrifugal, Coriolis, gravity [N·m]
};
ArmState arm_state(const Arm& arm, const Eigen::VectorXd& angle, const Eigen::VectorXd& rate);

}  // namespace service
