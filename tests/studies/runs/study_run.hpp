#pragma once

#include <string>
#include <vector>

#include "estimator/model/joint_kind.hpp"

namespace service {

/// Identification of a run in its study.
struct RunLabels {
  std::string stage;  ///< "fit", "cross", "sweep step", "trace", "robustness", …
  std::string set;
  std::string recording;
  std::string model;
  std::string method;
  std::string start;                ///< initial values; empty: the model's
  std::string trained_on;           ///< cross-validation: recording that provided the parameters
  double step = 0.0;                ///< h [s]
  double compliance = -1.0;         ///< ε; negative: the rig file's
  double state_error_weight = 0.0;  ///< κ
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
  std::vector<double> values;  ///< of the run's parameters, in their order
};

/// Open loop from the estimated initial state.
struct RunJoint {
  std::string name;
  double rmse = 0.0;             ///< [rad], or [m] if prismatic, as the next two
  std::vector<double> measured;  ///< empty unless trajectories are stored, as the next
  std::vector<double> simulated;
  estimator::JointKind kind = estimator::JointKind::kRevolute;
};

/// Result of one calibration or state estimation of a study.
struct StudyRun {
  std::string key;  ///< hash of all inputs
  RunLabels place;
  std::string termination;
  bool converged = false;
  int iterations = 0;
  double cost = 0.0;  ///< Σ of squared, weighted residuals
  /// Σ of squared residuals of readings over time steps [rad²]; kMetresPerRadian counts as a
  /// radian.
  double observation_error = 0.0;
  double state_error = 0.0;  ///< Σ of squared impulse residuals over time steps, unweighted
  int nodes = 0;             ///< time steps
  double wall_time = 0.0;    ///< [s]
  std::string error;         ///< reason for a missing result; empty: there is one
  std::vector<RunParameter> parameters;
  std::vector<RunParameter> base;  ///< identifiable combinations of inertial parameters
  std::vector<RunIteration> history;
  std::vector<RunJoint> joints;
  double start = 0.0;           ///< of the trajectories [s]
  double spacing = 0.0;         ///< of their samples [s]
  std::vector<double> control;  ///< of the first motor, if trajectories are stored

  /// Mean squared error: cost over time steps, as in the paper.
  double mean_squared_error() const { return cost / nodes; }
  /// The parameter of that name, or null.
  const RunParameter* find(const std::string& name) const;
};

}  // namespace service
