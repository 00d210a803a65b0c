#pragma once

#include <Eigen/Core>
#include <string>
#include <vector>

#include "estimator/dynamics/tree_inverse_dynamics.hpp"
#include "estimator/fit/fit_options.hpp"
#include "estimator/fit/physical/shooting/segment_steps.hpp"

namespace estimator {

/// The estimated quantities of a joint: motion, followed by loads (JointLoad) from index kLoads on.
enum class StateQuantity : int { kAngle, kRate, kAcceleration, kLoads };

inline constexpr int kStateQuantities =
    static_cast<int>(StateQuantity::kLoads) + static_cast<int>(JointLoad::kCount);

inline constexpr int load_quantity_index(JointLoad load) {
  return static_cast<int>(StateQuantity::kLoads) + static_cast<int>(load);
}

/// Returns whether the motion determines a quantity of a joint, so that it can be estimated.
/// Returns false for torques and reaction forces in a mechanism with loops, and for the motor
/// torque of a joint without motor.
bool is_observable(const Mechanism& mechanism, int joint, int quantity);

/// Selects the readings from which the state at a sample is estimated: all readings of its segment,
/// or only readings up to the sample plus a lag.
enum class ReadingSelection {
  kAll,    ///< all readings of the segment: smoothing
  kLagged  ///< readings up to the sample plus a lag: filtering, fixed-lag smoothing
};

struct StateEstimationOptions {
  ReadingSelection readings = ReadingSelection::kAll;
  double lag = 0.0;                 ///< lag of kLagged [s]; 0 for a filter
  UncertainParameters spread = {};  ///< parameter uncertainty; empty if the parameters are exact
  bool loads = true;                ///< whether to compute loads
};

/// The estimated motion and loads of all joints over one segment, with their uncertainty. For
/// sliding joints, units have m in place of rad, and N in place of N·m.
struct StateEstimate {
  std::string recording;
  double start = 0.0;         ///< start of the segment [s]
  std::vector<double> times;  ///< times of the rows since `start` [s]
  /// Estimates and standard deviations, rows × columns (`column_index`). NaN if not determined.
  Eigen::MatrixXd values, deviations;
  Eigen::MatrixXd controls;  ///< recorded controls, rows × motors, in joint order

  static Eigen::Index column_index(int joint, int quantity) {
    return joint * kStateQuantities + quantity;
  }
  static Eigen::Index column_index(int joint, StateQuantity quantity) {
    return column_index(joint, static_cast<int>(quantity));
  }
  static Eigen::Index column_index(int joint, JointLoad load) {
    return column_index(joint, load_quantity_index(load));
  }
};

/// Estimates motion and loads of all joints at every sample from all sensor readings. All
/// parameters are fixed. A fit of all states to the whole recordings gives noise levels, initial
/// states and shooting nodes. A Kalman filter and its adjoint (StateFilter) then estimate the
/// motion. A smoother is linearised about the motion between the shooting nodes, a filter about its
/// own estimates.
///
/// Loads are computed from the motion by inverse dynamics. Any unexplained acceleration is assumed
/// constant over a sampling period. A reading of a delayed sensor belongs to its time stamp minus
/// the delay, and is used at the sample nearest to this time.
/// @param rig       rig description, used to check the input
/// @param estimate  parameter values
/// @throws std::invalid_argument as `calibrate`
std::vector<StateEstimate> estimate_states(const Mechanism& rig, const Mechanism& estimate,
                                           const std::vector<Recording>& recordings,
                                           const CalibrationOptions& options,
                                           const CalibrationMonitor& monitor,
                                           const StateEstimationOptions& wanted = {});

}  // namespace estimator
