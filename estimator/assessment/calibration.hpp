#pragma once

#include <Eigen/Core>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "estimator/assessment/finding.hpp"
#include "estimator/fit/fit_options.hpp"
#include "estimator/fit/segment_trajectory.hpp"
#include "estimator/messages/message.hpp"
#include "estimator/model/mechanism.hpp"
#include "estimator/optimize/levenberg_marquardt.hpp"

namespace estimator {

/// The parameter estimates from one part of the recordings only, linearised about the estimates
/// from all recordings. The part has its own initial states.
struct RecordingPartEstimate {
  std::string recording;
  double from = 0.0, to = 0.0;  ///< [s]
  /// Estimates, and their standard deviations due to noise alone, one per free parameter. NaN if
  /// this part of the recordings does not identify the parameter.
  Eigen::VectorXd values, standard_deviations;
};

/// The result of Cochran's Q test of whether the estimates from all parts of the recordings agree.
struct ConsistencyTest {
  double statistic = std::numeric_limits<double>::quiet_NaN();  ///< Cochran's Q; NaN if not tested
  double degrees_of_freedom = 0.0;
  double p_value =
      std::numeric_limits<double>::quiet_NaN();  ///< probability of a larger Q for consistent parts
};

/// A combination of two or more parameters whose relative precision is much higher than the
/// precision of each parameter.
struct ParameterCombination {
  std::string description;  ///< "1.J_zz / 1.K"
  double value = 0.0;
  double standard_deviation = 0.0;
  std::string unit;
};

/// The principal moments of inertia of a body, and its principal axes in the body frame.
struct PrincipalInertia {
  std::string body;
  /// Moments and standard deviations, smallest moment first [kg·m²].
  Eigen::Vector3d moments, deviations;
  Eigen::Matrix3d axes;  ///< principal axes, one per column
  /// Whether the estimated body is planar or rod-like, the limit of physically consistent inertias.
  /// The standard deviations then assume that the body stays at this limit.
  bool at_feasibility_boundary = false;
};

/// A prior of a parameter or body that contradicts the data and all other priors.
struct PriorConflict {
  std::string parameter;  ///< name of the parameter; name of the body for a CAD prior
  double mean = 0.0;      ///< mean of the prior
  double without = 0.0;   ///< estimate from the data and all other priors
  /// Distance between the prior's mean and the estimate without this prior [combined standard
  /// deviations].
  double deviations = 0.0;
  std::string unit;
};

/// A parameter that the rig description fixes at a value that contradicts the readings.
struct ContradictedParameter {
  std::string name, unit;
  /// Value in the rig description, and value estimated from the data.
  double kept = 0.0, value = 0.0;
  double standard_deviation = 0.0;  ///< standard deviation of the estimated `value`
  double decrease = 0.0;            ///< decrease of the cost if the parameter is estimated
  /// The free parameter whose estimate changes most if this parameter is estimated.
  std::string moved;
  double shift = 0.0;  ///< change of the estimate of `moved` [standard deviations]
};

/// Change of the estimates by an error of a value that the rig description fixes. The error is the
/// tolerance of the value; without a tolerance, it is 1 %.
struct FixedValueEffect {
  std::string name;         ///< name of the fixed value
  std::string moved;        ///< parameter whose estimate changes most, in standard deviations
  double change = 0.0;      ///< change of that estimate [its unit]
  double deviations = 0.0;  ///< change of that estimate [its standard deviation]
  double tolerance = 0.0;   ///< relative tolerance of the value; 0: none
};

/// Probability below which an observation is not attributed to chance.
inline constexpr double kSignificanceLevel = 1e-4;

/// Ratio of an effect to its standard deviation above which the effect is significant. The ratio is
/// high because many effects are tested.
inline constexpr double kSignificantDeviations = 5.0;

/// Returns whether an effect exceeds kSignificantDeviations standard deviations. A deviation of 0
/// means that the optimum is at the end of the search range; such an effect is not significant.
inline bool is_significant(double size, double deviation) {
  return deviation > 0.0 && std::abs(size) > kSignificantDeviations * deviation;
}

enum class VerdictKind {
  kAccepted,  ///< residuals match the sensor noise, and all parts of the recordings agree
  kDoubtful,  ///< there are signs of a modelling error
  /// The model contradicts the recordings, but its errors are small relative to the motion.
  kApproximate,
  /// The model is rejected: its errors exceed those that sensor noise explains, and are large or of
  /// unknown size.
  kRejected,
  kNoFit,  ///< the model does not fit at all; the estimates are meaningless
};

enum class PredictionKind {
  kOpenLoop,      ///< simulation of whole segments from their initial states
  kShortTerm,     ///< prediction from estimated states, over less than a segment
  kTorque,        ///< torque by inverse dynamics along the motion
  kAcceleration,  ///< no simulation predicts the motion; accelerations of the estimated motion
};

/// The largest relative error of a model's predictions, among the errors that exceed the noise. It
/// is the largest over all encoders, or over all torques if recorded controls have noise.
struct RelativeError {
  /// Root-mean-square error, divided by the standard deviation of the readings, or by the root mean
  /// square of the torque or acceleration. NaN if unknown.
  double share = std::numeric_limits<double>::quiet_NaN();
  double horizon = std::numeric_limits<double>::quiet_NaN();  ///< longest predicted time [s]
  PredictionKind kind = PredictionKind::kOpenLoop;
  bool at_noise = false;  ///< no error exceeds the noise; `share` is then the largest error of all
};

/// Assessment of the model as a whole.
struct Verdict {
  VerdictKind kind = VerdictKind::kAccepted;
  std::vector<Message> reasons = {};  ///< empty if the model has not been judged
  RelativeError error = {};
};

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
  /// parts of the recordings. If the parts disagree, `standard_deviation` is the larger of the two.
  /// NaN if not available.
  double noise_deviation = std::numeric_limits<double>::quiet_NaN();
  double scatter_deviation = std::numeric_limits<double>::quiet_NaN();
  /// The estimate from the data alone, without priors, and its standard deviation due to noise
  /// (infinite if the parameter is not identifiable). NaN if the rig file has no priors.
  double data_value = std::numeric_limits<double>::quiet_NaN();
  double data_deviation = std::numeric_limits<double>::quiet_NaN();
};

/// A direction in parameter space along which the predicted readings do not change, so that the
/// recordings do not identify it.
struct NullDirection {
  Message description;
  Eigen::VectorXd coefficients;  ///< one per free parameter, in units of that parameter
};

/// The open-loop simulation error of one encoder over all fitted segments.
struct OpenLoopError {
  std::string joint;
  double rmse = 0.0;  ///< root-mean-square error [rad]; [m] for a sliding joint
  JointKind kind = JointKind::kRevolute;
};

/// Horizons over which readings are predicted if recorded controls have noise [s].
inline constexpr double kPredictionHorizons[] = {0.05, 0.2, 1.0};

/// The torque of a motorized joint, predicted by inverse dynamics along the filtered motion.
struct TorquePrediction {
  std::string joint;
  JointKind kind = JointKind::kRevolute;
  /// Root-mean-square difference to the recorded torque, and its expectation from noise [N·m]; [N]
  /// for a sliding joint.
  double error = 0.0, expected = 0.0;
  double torque = 0.0;  ///< root mean square of the recorded torque [N·m or N]
};

/// The readings of an encoder, predicted over a short horizon from the estimated states.
struct MotionPrediction {
  std::string encoder;
  JointKind kind = JointKind::kRevolute;
  double horizon = 0.0;  ///< [s]
  /// Root-mean-square prediction error, and its expectation from noise [rad]; [m] for a sliding
  /// joint.
  double rmse = 0.0, expected = 0.0;
};

/// The prediction error of one axis of an inertial sensor over all fitted segments.
struct InertialAxisError {
  std::string name;  ///< name of the axis, such as "imu1.gyro_z"
  std::string unit;  ///< rad/s or m/s²
  /// Root-mean-square error of the simulation from the fitted parameters and initial states.
  double rmse = 0.0;
  double noise = 0.0;  ///< standard deviation of a reading, estimated from the data
  int readings = 0;
};

/// A sensor that was held out of the fit, with its prediction error and the precision that fitting
/// it would gain.
struct HeldOutSensor {
  /// Name of the encoder, or of the axis, such as "imu1.gyro_z".
  std::string name;
  JointKind kind = JointKind::kRevolute;  ///< joint kind, for encoders only
  std::string unit = {};                  ///< unit of an axis; empty for encoders
  /// Prediction error, root mean square [rad, m or `unit`].
  double rmse = 0.0;
  /// Mean prediction error; large if the zero of the sensor is not identified.
  double mean = 0.0;
  /// Reading noise, from differences of readings [rad, m or `unit`].
  double noise = 0.0;
  /// Largest factor by which the readings of this sensor would reduce the standard deviation of a
  /// parameter.
  double precision_gain = 1.0;
  std::string most_improved_parameter;  ///< the parameter with this factor; empty if there is none
  bool at_start = false;  ///< own free parameters of the sensor keep their initial values
};

/// An instrument of a sensor, such as its gyroscope, with a significant cross-axis sensitivity that
/// the rig description lacks.
struct CrossAxisSensitivity {
  std::string sensor, instrument;  ///< "gyroscope", "accelerometer", "moment", "force"
  std::string share;               ///< name of the most significant cross-axis parameter
  double value = 0.0, standard_deviation = 0.0;  ///< estimate of `share` [-]
  /// The parameter whose estimate the cross-axis sensitivity changes most.
  std::string moved;
  /// Change of the estimate of the parameter `moved` [standard deviations].
  double shift = 0.0;
};

/// The result of a calibration.
struct Calibration {
  EstimateKind kind = EstimateKind::kShadow;
  std::vector<ParameterEstimate> parameters;  ///< the free parameters
  /// Parameters that are computed from the free parameters (`ParameterDependency`).
  std::vector<ParameterEstimate> dependent;
  Eigen::MatrixXd covariance;   ///< free × free
  Eigen::MatrixXd correlation;  ///< free × free
  std::vector<NullDirection> null_directions;
  std::vector<OpenLoopError> simulation;
  /// Duration after which the simulation restarts from the estimated states [s]. Finite only if
  /// recorded controls have noise, because controllers then react to the true motion.
  double simulation_horizon = std::numeric_limits<double>::infinity();
  /// Predictions that assess a model with noisy controls; empty without noise.
  std::vector<TorquePrediction> torque_predictions;
  std::vector<MotionPrediction> motion_predictions;
  /// Inertial sensor axes with readings; physical parameters only.
  std::vector<InertialAxisError> inertial;
  std::vector<HeldOutSensor> held_out;  ///< physical parameters only
  /// Significant cross-axis sensitivities that the rig description lacks.
  std::vector<CrossAxisSensitivity> cross_axes;
  std::vector<ContradictedParameter> contradictions;  ///< the most significant first
  /// Fixed values whose error would change an estimate by more than its standard deviation due to
  /// noise; the largest effect first.
  std::vector<FixedValueEffect> fixed_value_effects;
  std::vector<SegmentTrajectory> trajectories;
  Mechanism mechanism;  ///< the rig description with the estimated values
  /// Estimated noise of each encoder's readings [rad], and process noise of each joint's
  /// acceleration [rad/s²/√Hz], 0 if the data show none. For physical parameters only.
  Eigen::VectorXd angle_noise, acceleration_noise;
  /// Directions in parameter space that are not identifiable at the initial values, before the fit.
  std::vector<NullDirection> initial_null_directions;
  double cost = 0.0;  ///< sum of squared residuals at the optimum; whitened if physical
  /// Root-mean-square difference between the readings and the estimated states [rad]; for sliding
  /// joints scaled by JointUnits::scale.
  double observation_rmse = 0.0;
  double step = 0.0;  ///< integration step used [s]
  /// Weight of the state errors relative to the observations; shadow (SPOOK) parameters only.
  double state_error_weight = 0.0;
  bool started_from_physical =
      false;  ///< whether a shadow fit started from estimated physical parameters
  /// Stage to which the following members belong.
  EstimationStage first_stage = EstimationStage::kJointEstimation;
  Termination termination = Termination::kNumericalFailure;
  int iterations = 0;
  std::vector<IterationRecord> history;
  /// Whether the estimates come from the refinement, a fit of the open-loop simulation. The fields
  /// above then describe the preceding joint estimation of states and parameters.
  bool refined = false;
  Termination refinement_termination = Termination::kNumericalFailure;
  int refinement_iterations = 0;
  /// Iterations of the refinement. For shadow parameters, the cost is the sum of squared angle
  /// errors.
  std::vector<IterationRecord> refinement_history;
  Verdict verdict;
  /// Estimates from parts of the recordings. This and all following members are for physical
  /// parameters only.
  std::vector<RecordingPartEstimate> parts;
  ConsistencyTest agreement;
  std::vector<ParameterCombination> combinations;
  std::vector<PrincipalInertia> principal;  ///< for bodies with free moments of inertia
  std::vector<ParameterCombination> base;   ///< base inertial parameters
  std::vector<PriorConflict> conflicts;     ///< priors that contradict the data
  /// Returns whether the estimation stage that produced the estimates converged and the verdict is
  /// not "no fit".
  bool converged() const {
    return verdict.kind != VerdictKind::kNoFit &&
           is_converged(refined ? refinement_termination : termination);
  }
  std::vector<Finding> findings;  ///< about the recordings and the description
  std::vector<Message> notes;     ///< choices, omissions and anomalies, for users
};

}  // namespace estimator
