#pragma once

#include <string>
#include <vector>

#include "estimator/model/joint_kind.hpp"

namespace service {

/// Labels that identify a run in its study.
struct RunLabels {
  std::string stage;  ///< kind of run: "fit", "cross", "sweep step", "trace", "robustness", …
  std::string set;
  std::string recording;
  std::string model;
  std::string method;
  std::string start;                ///< name of the initial values; empty: the model's
  std::string trained_on;           ///< recording that provided the parameters in cross-validation
  double step = 0.0;                ///< time step h [s]
  double compliance = -1.0;         ///< compliance ε; negative: the rig file's
  double state_error_weight = 0.0;  ///< weight κ of the state error
};

struct RunParameter {
  std::string name;
  std::string unit;
  double value = 0.0;
  double standard_deviation = 0.0;
  double initial = 0.0;
  bool at_bound = false;
};

struct RunIteration {
  int iteration = 0;
  double cost = 0.0;
  std::vector<double> values;  ///< values of the run's parameters, in their order
};

/// Open-loop simulation of a joint's readings from the estimated initial state.
struct RunJoint {
  std::string name;
  double rmse = 0.0;             ///< [rad], or [m] if prismatic, like the next two
  std::vector<double> measured;  ///< empty unless trajectories are stored, like the next
  std::vector<double> simulated;
  estimator::JointKind kind = estimator::JointKind::kRevolute;
};

/// Result of a calibration or state estimation in a study.
struct StudyRun {
  std::string key;  ///< hash of all inputs of the run
  RunLabels place;
  std::string termination;
  bool converged = false;
  int iterations = 0;
  double cost = 0.0;  ///< sum of squared, weighted residuals
  /// Sum of the squared residuals of readings over the number of time steps [rad²]. For prismatic
  /// joints, kMetresPerRadian counts as a radian.
  double observation_error = 0.0;
  double state_error = 0.0;  ///< sum of squared impulse residuals over number of time steps
  int nodes = 0;             ///< number of time steps
  double wall_time = 0.0;    ///< elapsed time [s]
  std::string error;         ///< reason for a missing result; empty if there is a result
  std::vector<RunParameter> parameters;
  std::vector<RunParameter> base;  ///< identifiable combinations of inertial parameters
  std::vector<RunIteration> history;
  std::vector<RunJoint> joints;
  double start = 0.0;           ///< time of the first sample of trajectories [s]
  double spacing = 0.0;         ///< sampling period of trajectories [s]
  std::vector<double> control;  ///< command of the first motor, if trajectories are stored

  /// Returns the mean squared error as in the paper: the cost over the number of time steps.
  double mean_squared_error() const { return cost / nodes; }
  /// Returns the parameter with this name, or null.
  const RunParameter* find(const std::string& name) const;
};

}  // namespace service
