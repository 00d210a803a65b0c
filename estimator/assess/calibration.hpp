#pragma once

#include <Eigen/Core>
#include <limits>
#include <string>
#include <vector>

#include "estimator/assess/assessment_results.hpp"
#include "estimator/assess/finding.hpp"
#include "estimator/fit/fit_options.hpp"
#include "estimator/fit/segment_trajectory.hpp"
#include "estimator/model/mechanism.hpp"
#include "estimator/optimize/lm_summary.hpp"

namespace estimator {

/// Half the width of a 95 % interval of a normal distribution, in standard deviations.
inline constexpr double kNormalHalfWidth95 = 1.959964;

/// Estimate of one parameter.
struct ParameterEstimate {
  std::string name;
  std::string unit;
  double value = 0.0;
  double standard_deviation = 0.0;  ///< infinite: not identifiable
  double initial = 0.0;
  double lower = 0.0;
  double upper = 0.0;
  bool at_bound = false;
  /// Half the width of the 95 % interval; infinite if not identifiable. At a bound its whole width:
  /// how far inside the parameter may be.
  double half_interval = 0.0;
  /// Components of `standard_deviation`, which is the larger one if parts of the recordings
  /// disagree: from noise alone, and from the scatter between parts. NaN: not available.
  double noise_deviation = std::numeric_limits<double>::quiet_NaN();
  double scatter_deviation = std::numeric_limits<double>::quiet_NaN();
  /// Estimate from the data without any prior, and its standard deviation from noise: infinite if
  /// not identifiable. NaN if there are no priors.
  double data_value = std::numeric_limits<double>::quiet_NaN();
  double data_deviation = std::numeric_limits<double>::quiet_NaN();
};

/// An unidentifiable direction in parameter space.
struct NullDirection {
  std::string description;       ///< e.g. "1.J_shaft and A.J_zz trade off as 1 : −1"
  Eigen::VectorXd coefficients;  ///< one per free parameter, in units of that parameter
};

/// Open-loop simulation error of one sensor over all fitted segments.
struct SimulationError {
  std::string joint;
  double rmse = 0.0;  ///< [rad], or [m] of a sliding joint
  JointKind kind = JointKind::kRevolute;
};

/// Errors of one axis of an inertial sensor over all fitted segments.
struct InertialError {
  std::string name;    ///< such as "imu1.gyro_z"
  std::string unit;    ///< rad/s or m/s²
  double rmse = 0.0;   ///< for the motion from the fitted parameters and initial states
  double noise = 0.0;  ///< standard deviation of a reading, estimated from the data
  int readings = 0;
};

/// A held-out sensor: its prediction error, and the precision lost without it.
struct HeldOutSensor {
  std::string name;                       ///< of an encoder, or of an axis such as "imu1.gyro_z"
  JointKind kind = JointKind::kRevolute;  ///< of an encoder
  std::string unit = {};                  ///< of an axis; empty: an encoder
  double rmse = 0.0;                      ///< of its predicted readings [rad, m or unit]
  double mean = 0.0;                      ///< of these errors: large if its zero is not identified
  double noise = 0.0;                     ///< of its readings, from differences [rad, m or unit]
  double narrowing = 1.0;  ///< largest ratio of standard deviations without to with them
  std::string narrowed;    ///< the parameter with this ratio; empty: none
  bool at_start = false;   ///< its own free parameters keep their initial values
};

/// An instrument with significant cross-axis sensitivity that the description lacks.
struct CrossAxisSensitivity {
  std::string sensor, instrument;  ///< "gyroscope", "accelerometer", "moment", "force"
  std::string share;               ///< name of the most significant cross-axis parameter
  double value = 0.0, standard_deviation = 0.0;  ///< of that parameter [-]
  std::string moved;                             ///< the estimate that it changes most
  double shift = 0.0;                            ///< change in standard deviations
};

/// Result of a calibration.
struct Calibration {
  EstimateKind kind = EstimateKind::kShadow;
  std::vector<ParameterEstimate> parameters;  ///< the free parameters
  std::vector<ParameterEstimate> tied;  ///< parameters that depend on them (`ParameterDependency`)
  Eigen::MatrixXd covariance;           ///< free × free
  Eigen::MatrixXd correlation;          ///< free × free
  std::vector<NullDirection> null_directions;
  std::vector<SimulationError> simulation;
  std::vector<InertialError> inertial;           ///< axes with readings; physical parameters only
  std::vector<HeldOutSensor> held_out;           ///< physical parameters only
  std::vector<CrossAxisSensitivity> cross_axes;  ///< significant ones without parameters
  std::vector<Contradiction> contradictions;     ///< the most significant first
  std::vector<SegmentTrajectory> trajectories;
  Mechanism mechanism;  ///< with the estimated values in place
  /// Physical: estimated noise levels, one per sensor [rad] and one per joint [rad/s²/√Hz]; the
  /// latter is 0 if the data show no process noise.
  Eigen::VectorXd angle_noise, acceleration_noise;
  /// Unidentifiable directions at the initial values, before the fit.
  std::vector<NullDirection> initial_null_directions;
  double cost = 0.0;  ///< Σ‖r‖² at the optimum; physical: of whitened residuals
  /// RMSE of the estimated states [rad]; sliding joints are scaled by JointUnits::scale.
  double observation_rmse = 0.0;
  double step = 0.0;                ///< h used [s]
  double state_error_weight = 0.0;  ///< κ used; shadow only
  bool approached = false;          ///< shadow: started from the physical parameters
  Termination termination = Termination::kNumericalFailure;
  int iterations = 0;
  std::vector<IterationRecord> history;
  bool refined = false;  ///< estimates: of the refinement; fields above: of the joint estimation
  Termination refinement_termination = Termination::kNumericalFailure;
  int refinement_iterations = 0;
  std::vector<IterationRecord> refinement_history;  ///< shadow: costs are Σ of squared angle errors
  Verdict verdict;
  std::vector<PartEstimate> pieces;  ///< physical parameters only, as all that follows
  ConsistencyTest agreement;
  std::vector<Combination> combinations;
  std::vector<PrincipalInertia> principal;  ///< of bodies with free moments; physical only
  std::vector<Combination> base;            ///< base inertial parameters; physical only
  std::vector<PriorConflict> conflicts;     ///< priors that contradict the data; physical only
  /// Returns whether the stage of the estimates converged and the model fits at all.
  bool converged() const {
    return verdict.kind != VerdictKind::kNoFit &&
           is_converged(refined ? refinement_termination : termination);
  }
  std::vector<Finding> findings;   ///< about the recordings and the description
  std::vector<std::string> notes;  ///< choices, omissions and anomalies, for people
};

}  // namespace estimator
