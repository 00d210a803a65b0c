#pragma once

#include <limits>

namespace estimator {

/// Motor of a joint. Its gain, rotor inertia, back-EMF and delay are parameters (JointParameter).
struct Motor {
  bool present = false;  ///< whether the joint has a motor: one column of the control signal
  /// Turns of the motor's rotor per turn of the joint, for a rotor in body a. 0: the effect of body
  /// a's rotation on the rotor is neglected. Only the physical-parameter estimation uses it.
  double gear_ratio = 0.0;
  /// Periods n of the cogging torque per turn of the joint [-]; 0: no cogging. Only the estimation
  /// of physical parameters uses it.
  int cogging_order = 0;
  /// Standard deviation of the error of the recorded control in each sample, such as the noise of a
  /// measured torque [unit of the control]. 0: no error. Only the estimation of physical parameters
  /// of mechanisms without loops uses it.
  double control_noise = 0.0;
  /// Whether the motion of the joint is prescribed (prescribe_motion): the control is the
  /// acceleration of the joint, and the force is whatever this acceleration requires.
  bool is_prescribed = false;
};

/// Rotor inertia [kg·m²] or mass [kg], and gain, of the motor of a joint with a prescribed motion.
/// In a tree the motion does not depend on them. In closed loops the forces of bodies of 10 kg
/// change the motion by a hundred-thousandth.
inline constexpr double kPrescribedRotorInertia = 1e6;

/// Whether a joint has a lower and an upper end stop. Their positions are parameters. Only the
/// estimation of physical parameters of mechanisms without loops uses stops.
struct EndStops {
  bool lower = false, upper = false;
};

/// Gaussian prior of a scalar quantity.
struct GaussianPrior {
  double mean = 0.0;
  double standard_deviation = std::numeric_limits<double>::infinity();  ///< infinite: no prior
};

/// Priors of a joint's initial state in every recording [rad, rad/s]. Only the estimation of
/// physical parameters uses them.
struct InitialStatePrior {
  GaussianPrior angle = {}, rate = {};
};

/// Regularization of a joint's constraint rows and dry friction in the SPOOK stepper.
struct SpookRegularization {
  static constexpr double kAutomaticDamping =
      -1.0;  ///< selects the damping time h/4, see constraint_damping_time

  /// Compliance of the three constraint rows for the joint point [m/N], ≥ 0. The default is
  /// practically rigid for a table-top rig. It is above zero since closed loops have linearly
  /// dependent rows.
  double compliance_linear = 1e-8;
  double compliance_angular = 1e-8;  ///< compliance of the two axis rows [rad/(N·m)], ≥ 0
  double damping_time =
      kAutomaticDamping;  ///< damping time τ of all five rows [s], ≥ 0 or automatic
  /// Speed below which regularized dry friction sticks [rad/s], > 0.
  double stick_speed = 0.01;
};

}  // namespace estimator
