#pragma once

#include <Eigen/Core>
#include <string>
#include <vector>

#include "estimator/dynamics/tree_inverse_dynamics.hpp"
#include "estimator/fit/fit_options.hpp"
#include "estimator/fit/physical/segment_steps.hpp"

namespace estimator {

/// Estimated quantities of a joint; its loads (JointLoad) follow the motion.
enum class StateQuantity : int { kAngle, kRate, kAcceleration, kLoads };

inline constexpr int kStateQuantities =
    static_cast<int>(StateQuantity::kLoads) + static_cast<int>(JointLoad::kCount);

inline constexpr int quantity_of(JointLoad load) {
  return static_cast<int>(StateQuantity::kLoads) + static_cast<int>(load);
}

/// Returns whether a quantity of a joint can be estimated: not the torque of an absent motor, nor
/// torques and reactions in a mechanism with loops, which its motion does not determine.
bool is_observable(const Mechanism& mechanism, int joint, int quantity);

/// Readings used for the state at a sample.
enum class StateReadings {
  kAll,    ///< all readings of the segment: smoothing
  kLagged  ///< readings up to the sample plus a lag: filtering, fixed-lag smoothing
};

struct StateOptions {
  StateReadings readings = StateReadings::kAll;
  double lag = 0.0;             ///< of kLagged; 0: a filter [s]
  FixedParameters spread = {};  ///< parameter uncertainty; empty: exact
  bool loads = true;            ///< whether to compute loads
};

/// Estimated motion and loads of all joints over one segment, with their uncertainty. For sliding
/// joints read m for rad and N for N·m.
struct StateEstimate {
  std::string recording;
  double start = 0.0;         ///< of the segment [s]
  std::vector<double> times;  ///< of the rows, from the start [s]
  /// Rows × joints · kStateQuantities, and standard deviations; NaN: not determined.
  Eigen::MatrixXd values, deviations;
  Eigen::MatrixXd controls;  ///< as recorded: rows × motors, in joint order

  static Eigen::Index column(int joint, int quantity) {
    return joint * kStateQuantities + quantity;
  }
  static Eigen::Index column(int joint, StateQuantity quantity) {
    return column(joint, static_cast<int>(quantity));
  }
  static Eigen::Index column(int joint, JointLoad load) { return column(joint, quantity_of(load)); }
};

/// Estimates motion and loads at every sample from all sensor readings of the segment, with all
/// parameters fixed. Uses a Kalman filter and its adjoint (StateFilter), linearised about the nodes
/// of the joint estimation for smoothing, about its own estimates for filtering. Noise levels and
/// initial states come from the joint estimation on whole recordings.
///
/// Loads follow from motion by inverse dynamics. Unexplained acceleration, if any, is constant over
/// a sampling period. A reading of a delayed sensor belongs to its time minus the delay, and is
/// used at the nearest sample.
///
/// @param rig       checks the input
/// @param estimate  parameter values
/// @throws std::invalid_argument as `calibrate`
std::vector<StateEstimate> estimate_states(const Mechanism& rig, const Mechanism& estimate,
                                           const std::vector<Recording>& recordings,
                                           const CalibrationOptions& options,
                                           const CalibrationMonitor& monitor,
                                           const StateOptions& wanted = {});

}  // namespace estimator
