#pragma once

#include <Eigen/Core>
#include <vector>

namespace service {

/// A link of an arm with the joint that carries it. The origin of the link's frame is at the joint;
/// its z axis is the joint's axis.
struct ArmLink {
  using Standard = Eigen::Matrix<double, 10, 1>;

  Eigen::Matrix3d mount = Eigen::Matrix3d::Identity();  ///< rotation from the link's frame at angle
                                                        ///< 0 to the previous link's
  Eigen::Vector3d point = Eigen::Vector3d::Zero();      ///< joint in the previous link's frame [m]
  /// Inertial parameters: I_xx, I_yy, I_zz, I_xy, I_xz, I_yz about the joint [kg·m²], m c [kg·m], m
  /// [kg].
  Standard standard = Standard::Zero();
  double viscous = 0.0;  ///< viscous friction b [N·m·s/rad]
  double coulomb = 0.0;  ///< Coulomb friction τ_c [N·m]
  double gain = 1.0;     ///< motor gain K: torque per unit of control [-]
  double shaft = 0.0;    ///< rotor inertia about the joint's axis [kg·m²]
};

/// A serial arm on the ground; world y is up.
///
/// Its equations of motion in minimal coordinates are linear in the standard parameters. They share
/// no code with the estimator, so tests can use them to validate its estimates.
struct Arm {
  std::vector<ArmLink> links;
  double gravity = 9.82;  ///< [m/s²]

  int size() const { return static_cast<int>(links.size()); }
};

/// Returns the matrix Y (n × 10 n) with which the standard parameters π of all n links give the
/// joint torques Y π without rotors and friction [Atkeson, An & Hollerbach 1986].
Eigen::MatrixXd torque_regressor(const Arm& arm, const Eigen::VectorXd& angle,
                                 const Eigen::VectorXd& rate, const Eigen::VectorXd& acceleration);

/// Returns the 10 n coefficients of the standard parameters of n links in the sum of kinetic and
/// potential energy [MTM, eqs. 67–69].
Eigen::VectorXd energy_regressor(const Arm& arm, const Eigen::VectorXd& angle,
                                 const Eigen::VectorXd& rate);

/// Returns the standard parameters of all n links, 10 n.
Eigen::VectorXd standard_parameters(const Arm& arm);

/// Returns the kinetic plus potential energy of an arm, including its rotors [J].
double energy_of(const Arm& arm, const Eigen::VectorXd& angle, const Eigen::VectorXd& rate);

/// Mass matrix and load torques of an arm in a state.
struct ArmState {
  Eigen::MatrixXd mass;  ///< mass matrix including rotors [kg·m²]
  Eigen::VectorXd bias;  ///< torques at zero acceleration: centrifugal, Coriolis, gravity [N·m]
};
ArmState arm_state(const Arm& arm, const Eigen::VectorXd& angle, const Eigen::VectorXd& rate);

}  // namespace service
