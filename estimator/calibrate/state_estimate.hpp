#pragma once

#include <Eigen/Core>
#include <string>
#include <vector>

#include "estimator/dynamics/tree_inverse_dynamics.hpp"
#include "estimator/fit/fit_options.hpp"
#include "estimator/fit/physical/segment_steps.hpp"

namespace estimator {

/// What is estimated of every joint; behind the motion its loads (JointLoad).
enum class StateQuantity : int { kAngle, kRate, kAcceleration, kLoads };

inline constexpr int kStateQuantities =
    static_cast<int>(StateQuantity::kLoads) + static_cast<int>(JointLoad::kCount);

inline constexpr int quantity_of(JointLoad load) {
  return static_cast<int>(StateQuantity::kLoads) + static_cast<int>(load);
}

/// Whether a quantity of a joint can be told: not what a motor does that is not there, nor torques
/// and reactions in a mechanism with loops, which its motion leaves open.
bool is_told(const Mechanism& mechanism, int joint, int quantity);

/// What readings refer to.
enum class StateReadings {
  kAll,    ///< those of the whole segment: states are smoothed
  kLagged  ///< those up to the sample, and for a lag beyond it
};

struct StateOptions {
  StateReadings readings = StateReadings::kAll;
  double lag = 0.0;            ///< of kLagged; 0: a filter [s]
  KeptParameters spread = {};  ///< how well the values are known; empty: exactly
  bool loads = true;           ///< whether they are wanted
};

/// What all joints do and carry over one segment as its readings have it, and how well that is
/// known. What a joint that slides has is in m for rad, and N for N·m.
struct StateEstimate {
  std::string recording;
  double start = 0.0;         ///< of the segment [s]
  std::vector<double> times;  ///< of the rows since then [s]
  /// Rows × joints · kStateQuantities, and standard deviations; NaN where it cannot be told.
  Eigen::MatrixXd values, deviations;
  Eigen::MatrixXd controls;  ///< as recorded: rows × motors, in hinge order

  static Eigen::Index column(int joint, int quantity) {
    return joint * kStateQuantities + quantity;
  }
  static Eigen::Index column(int joint, StateQuantity quantity) {
    return column(joint, static_cast<int>(quantity));
  }
  static Eigen::Index column(int joint, JointLoad load) { return column(joint, quantity_of(load)); }
};

/// Estimates motion and loads at every sample from the readings of its segment, of encoders and all
/// other sensors, with every parameter kept: a Kalman filter and its adjoint (StateFilter), about
/// the nodes of the joint estimation for all readings, else about its own estimates. Noise levels
/// are those of the joint estimation on whole recordings, which also tells where a segment begins.
///
/// Loads follow from motion by inverse dynamics. Unexplained acceleration, where the data show any,
/// counts as constant over a sampling period. A reading of a late sensor is of its time less the
/// delay, and counts with the sample next to that.
///
/// @param rig       what the input is checked against
/// @param estimate  the values
/// @throws std::invalid_argument as `calibrate`
std::vector<StateEstimate> estimate_states(const Mechanism& rig, const Mechanism& estimate,
                                           const std::vector<Recording>& recordings,
                                           const CalibrationOptions& options,
                                           const CalibrationMonitor& monitor,
                                           const StateOptions& wanted = {});

}  // namespace estimator
