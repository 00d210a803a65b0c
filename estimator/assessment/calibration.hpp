#pragma once

#include <Eigen/Core>
#include <limits>
#include <string>
#include <vector>

#include "estimator/assessment/assessment_results.hpp"
#include "estimator/assessment/finding.hpp"
#include "estimator/fit/fit_options.hpp"
#include "estimator/fit/segment_trajectory.hpp"
#include "estimator/model/mechanism.hpp"
#include "estimator/optimize/lm_summary.hpp"

namespace estimator {

/// Half-width of the 95 % confidence interval of a normal distribution [standard deviations].
inline constexpr double kNormalHalfWidth95 = 1.959964;

/// The estimate of one parameter, in the unit `unit`, with its uncertainty.
struct ParameterEstimate {
  std::string name;
  std::string unit;
  double value = 0.0;
  double standard_deviation = 0.0;  ///< infinite if not identifiable
  double initial = 0.0;
  double lower = 0.0;
  double upper = 0.0;
  bool at_bound = false;
  /// Half-width of the 95 % confidence interval; infinite if the parameter is not identifiable. For
  /// a parameter at a bound: how far inside the bound the true value may be.
  double half_interval = 0.0;
  /// Standard deviations from sensor noise alone, and from the scatter of the estimates between
  /// parts of the recordings. `standard_deviation` is the larger of these two if the parts
  /// disagree. NaN if not available.
  double noise_deviation = std::numeric_limits<double>::quiet_NaN();
  double scatter_deviation = std::numeric_limits<double>::quiet_NaN();
  /// The estimate from the data alone, with all priors left out, and its standard deviation from
  /// noise, which is infinite if the parameter is not identifiable. NaN if the rig file has no
  /// priors.
  double data_value = std::numeric_limits<double>::quiet_NaN();
  double data_deviation = std::numeric_limits<double>::quiet_NaN();
};

/// A direction in parameter space that the recordings do not identify.
struct NullDirection {
  Message description;
  Eigen::VectorXd coefficients;  ///< one per free parameter, in units of that parameter
};

/// The open-loop simulation error of one encoder over all fitted segments.
struct SimulationError {
  std::string joint;
  double rmse = 0.0;  ///< root-mean-square error [rad]; [m] for a sliding joint
  JointKind kind = JointKind::kRevolute;
};

/// The prediction error of one axis of an inertial sensor over all fitted segments.
struct InertialError {
  std::string name;  ///< such as "imu1.gyro_z"
  std::string unit;  ///< rad/s or m/s²
  /// Root-mean-square error of the simulation from the fitted parameters and initial states.
  double rmse = 0.0;
  double noise = 0.0;  ///< standard deviation of a reading, estimated from the data
  int readings = 0;
};

/// A sensor that was held out of the fit, with its prediction error and the precision lost without
/// it.
struct HeldOutSensor {
  /// Name of the encoder, or of the axis, such as "imu1.gyro_z".
  std::string name;
  JointKind kind = JointKind::kRevolute;  ///< joint kind, for encoders only
  std::string unit = {};                  ///< unit of an axis; empty for encoders
  /// Prediction error, root mean square [rad, m or `unit`].
  double rmse = 0.0;
  /// Mean prediction error; large if the sensor's zero is not identified.
  double mean = 0.0;
  /// Reading noise, from differences of readings [rad, m or `unit`].
  double noise = 0.0;
  /// Largest ratio of a parameter's standard deviation without this sensor to that with it.
  double narrowing = 1.0;
  std::string narrowed;   ///< the parameter with this ratio; empty if there is none
  bool at_start = false;  ///< the sensor's own free parameters keep their initial values
};

/// An instrument with a significant cross-axis sensitivity that the rig description lacks.
struct CrossAxisSensitivity {
  std::string sensor, instrument;  ///< "gyroscope", "accelerometer", "moment", "force"
  std::string share;               ///< name of the most significant cross-axis parameter
  double value = 0.0, standard_deviation = 0.0;  ///< estimate of `share` [-]
  /// The parameter whose estimate the cross-axis sensitivity changes most.
  std::string moved;
  /// Change of the estimate of `moved` [standard deviations].
  double shift = 0.0;
};

/// The result of a calibration.
struct Calibration {
  EstimateKind kind = EstimateKind::kShadow;
  std::vector<ParameterEstimate> parameters;  ///< the free parameters
  /// Parameters computed from the free ones (`ParameterDependency`).
  std::vector<ParameterEstimate> tied;
  Eigen::MatrixXd covariance;   ///< free × free
  Eigen::MatrixXd correlation;  ///< free × free
  std::vector<NullDirection> null_directions;
  std::vector<SimulationError> simulation;
  /// Inertial sensor axes with readings; physical parameters only.
  std::vector<InertialError> inertial;
  std::vector<HeldOutSensor> held_out;  ///< physical parameters only
  /// Significant sensitivities that the rig description has no parameters for.
  std::vector<CrossAxisSensitivity> cross_axes;
  std::vector<Contradiction> contradictions;  ///< the most significant first
  std::vector<SegmentTrajectory> trajectories;
  Mechanism mechanism;  ///< the rig description with the estimated values
  /// Estimated noise levels, for physical parameters only: of the readings of each sensor [rad],
  /// and of the accelerations of each joint [rad/s²/√Hz], which are 0 if the data show no process
  /// noise.
  Eigen::VectorXd angle_noise, acceleration_noise;
  /// Directions in parameter space that are not identifiable at the initial values, before the fit.
  std::vector<NullDirection> initial_null_directions;
  double cost = 0.0;  ///< sum of squared residuals at the optimum; whitened if physical
  /// Root-mean-square difference between the readings and the estimated states [rad]; for sliding
  /// joints scaled by JointUnits::scale.
  double observation_rmse = 0.0;
  double step = 0.0;  ///< integration step used [s]
  /// Weight of the state errors used; SPOOK (shadow) parameters only.
  double state_error_weight = 0.0;
  bool approached = false;  ///< the shadow fit started from estimated physical parameters
  Termination termination = Termination::kNumericalFailure;
  int iterations = 0;
  std::vector<IterationRecord> history;
  /// The estimates come from the refinement; the fields above describe the joint estimation.
  bool refined = false;
  Termination refinement_termination = Termination::kNumericalFailure;
  int refinement_iterations = 0;
  /// Iterations of the refinement. For shadow parameters, costs sum squared angle errors.
  std::vector<IterationRecord> refinement_history;
  Verdict verdict;
  /// Estimates from parts of the recordings; this and all following members: physical only.
  std::vector<PartEstimate> pieces;
  ConsistencyTest agreement;
  std::vector<Combination> combinations;
  std::vector<PrincipalInertia> principal;  ///< for bodies with free moments of inertia
  std::vector<Combination> base;            ///< base inertial parameters
  std::vector<PriorConflict> conflicts;     ///< priors that contradict the data
  /// Returns whether the estimation stage that produced the estimates converged and the verdict is
  /// not "no fit".
  bool converged() const {
    return verdict.kind != VerdictKind::kNoFit &&
           is_converged(refined ? refinement_termination : termination);
  }
  std::vector<Finding> findings;  ///< about the recordings and the description
  std::vector<Message> notes;     ///< choices, omissions and anomalies, for people
};

}  // namespace estimator
