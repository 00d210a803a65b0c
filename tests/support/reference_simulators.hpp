#pragma once

#include <Eigen/Core>

namespace test_support {

/// The simulators in this file use minimal coordinates and share no code with the estimator. Tests
/// compare the estimator's SPOOK stepper with them. The README of the evaluation data has the
/// equations of motion.

/// Shape σ of the Coulomb friction torque −τ_c σ(ω) as a function of the joint rate ω near zero.
enum class DryFriction {
  kTanh,   ///< σ = tanh(ω / smoothing_speed): the synthetic Furuta data
  kClamp,  ///< σ = clamp(ω / smoothing_speed, −1, 1): the regularised law of the SPOOK stepper
};

/// Single pendulum with state (θ, ω): angle and angular rate, with θ = 0 hanging.
struct ReferencePendulum {
  double m = 0.428;    ///< [kg]
  double l = 0.092;    ///< distance from the joint to the centre of mass [m]
  double J = 0.0039;   ///< moment of inertia about the centre of mass [kg·m²]
  double b = 0.0;      ///< viscous friction [N·m·s/rad]
  double c = 0.0;      ///< quadratic drag [N·m·s²/rad²]
  double tau_c = 0.0;  ///< kinetic friction torque [N·m]
  double tau_s = 0.0;  ///< static friction torque, ≥ tau_c [N·m]
  double zeta = 0.0;   ///< decay rate of the Stribeck excess, exp(−ζ ω²) [s²/rad²]
  double g = 9.82;     ///< [m/s²]

  double energy(const Eigen::Vector2d& y) const;
};

/// Returns the trajectory of a pendulum, with rows (θ, ω) at times 0, period, …, count·period.
/// Friction is exact: the integration uses a constant sign of ω, stops at reversals, and keeps the
/// pendulum at rest if the load torque at a reversal does not exceed tau_s.
Eigen::MatrixXd simulate(const ReferencePendulum& rig, const Eigen::Vector2d& start, double period,
                         int count);

/// Furuta pendulum with the geometry of the README of the evaluation data. Its state is (θ1, θ2,
/// ω1, ω2).
struct ReferenceFuruta {
  double m_A = 0.238, m_B = 0.428;                    ///< [kg]
  double l_1 = 0.128, L_arm = 0.376, l_2 = 0.092;     ///< [m]
  double J_Azz = 0.003;                               ///< [kg·m²]
  double J_Bxx = 1e-4, J_Byy = 0.004, J_Bzz = 0.004;  ///< [kg·m²]
  double J_shaft = 0.0;                               ///< [kg·m²]
  double b_1 = 0.0, b_2 = 0.0;                        ///< [N·m·s/rad]
  double tau_c1 = 0.0, tau_c2 = 0.0;                  ///< [N·m]
  double K = 0.0;                                     ///< [N·m/V]
  double k_e = 0.0;  ///< back-EMF: the motor torque is K (u − k_e ω1) [V·s/rad]
  Eigen::Vector3d tilt = Eigen::Vector3d::Zero();  ///< rotation vector of gravity [rad]
  double g = 9.82;                                 ///< [m/s²]
  DryFriction friction = DryFriction::kTanh;
  double smoothing_speed = 1e-4;  ///< [rad/s]

  double energy(const Eigen::Vector4d& y) const;
};

/// Returns the trajectory of a Furuta pendulum, with rows (θ1, θ2, ω1, ω2) at times 0, period, …,
/// u.size()·period. The command is u[k] in the interval [k·period, (k+1)·period).
Eigen::MatrixXd simulate(const ReferenceFuruta& rig, const Eigen::Vector4d& start,
                         const Eigen::VectorXd& u, double period);

/// A mechanism of three bodies: an arm that turns in the vertical plane, a block that slides along
/// the arm on a spring and is driven along the arm, and a pendulum on the block. Its state is (θ,
/// s, φ) and their rates: the arm's angle θ from hanging, the distance s from pivot to block, and
/// the pendulum's angle φ relative to the arm.
struct ReferenceSlider {
  double m_1 = 0.3, l_1 = 0.15, I_1 = 0.02;   ///< arm: mass, centre of mass, inertia about pivot
  double m_2 = 0.2, J_2 = 4e-4;               ///< block: mass, inertia
  double m_3 = 0.15, l_3 = 0.12, J_3 = 8e-4;  ///< pendulum: mass, centre of mass, inertia about it
  double m_shaft = 0.05;                      ///< rotor inertia of the motor [kg]
  double b_1 = 2e-3, b_2 = 0.4, b_3 = 3e-4;  ///< viscous friction [N·m·s/rad, N·s/m, N·m·s/rad]
  double c_2 = 0.3;                          ///< quadratic drag of the prismatic joint [N·s²/m²]
  double k = 40.0, rest = 0.2;               ///< spring of the prismatic joint [N/m, m]
  double K = 0.8;                            ///< force per unit of the control [N/unit]
  double g = 9.82;                           ///< [m/s²]
};

/// Returns the trajectory of the slider mechanism, with rows of its state at times 0, period, …,
/// u.size()·period. The command is u[k] in the interval [k·period, (k+1)·period).
Eigen::MatrixXd simulate(const ReferenceSlider& rig, const Eigen::Matrix<double, 6, 1>& start,
                         const Eigen::VectorXd& u, double period);

/// Planar chain of equal links, each with its centre of mass in the middle. Its state is (φ_1 …
/// φ_n) and their rates, where φ_i is the absolute angle of link i from hanging.
struct ReferenceChain {
  int links = 2;
  double m = 0.2;     ///< [kg]
  double l = 0.3;     ///< [m]
  double J = 1.5e-3;  ///< about the centre of mass [kg·m²]
  double g = 9.82;    ///< [m/s²]
};

/// Returns the trajectory of a chain, with rows (φ, φ̇) at times 0, period, …, count·period.
Eigen::MatrixXd simulate(const ReferenceChain& chain, const Eigen::VectorXd& start, double period,
                         int count);

}  // namespace test_support
