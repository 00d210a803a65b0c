#pragma once

#include <Eigen/Core>
#include <limits>
#include <string>
#include <vector>

#include "estimator/assess/evidence.hpp"
#include "estimator/assess/finding.hpp"
#include "estimator/fit/fit_options.hpp"
#include "estimator/fit/segment_trajectory.hpp"
#include "estimator/model/mechanism.hpp"
#include "estimator/optimize/lm_summary.hpp"

namespace estimator {

/// Half the width of a 95 % interval of a normal distribution, in standard deviations.
inline constexpr double kNormalHalfWidth95 = 1.959964;

/// Outcome for one parameter.
struct ParameterEstimate {
  std::string name;
  std::string unit;
  double value = 0.0;
  double standard_deviation = 0.0;  ///< infinite where the data cannot see it
  double initial = 0.0;
  double lower = 0.0;
  double upper = 0.0;
  bool at_bound = false;
  /// Half the width of the 95 % interval, infinite likewise. At a bound, its whole width: how far
  /// off the bound the data would let it be.
  double half_interval = 0.0;
  /// What `standard_deviation` is the larger of, where pieces disagree: that from noise alone, and
  /// that from the scatter between pieces; NaN where there is none.
  double noise_deviation = std::numeric_limits<double>::quiet_NaN();
  double scatter_deviation = std::numeric_limits<double>::quiet_NaN();
  /// What the data alone say, all priors left out, and its deviation from noise: infinite where
  /// they do not see it. NaN where nothing was known beforehand.
  double data_value = std::numeric_limits<double>::quiet_NaN();
  double data_deviation = std::numeric_limits<double>::quiet_NaN();
};

/// A direction in parameter space that the data cannot see, in words and numbers.
struct NullDirection {
  std::string description;       ///< e.g. "1.J_shaft and A.J_zz trade off as 1 : −1"
  Eigen::VectorXd coefficients;  ///< one per free parameter, in units of that parameter
};

/// Open-loop error of one hinge over all fitted segments.
struct SimulationError {
  std::string hinge;
  double rmse = 0.0;  ///< [rad], or [m] where the joint slides
  JointKind kind = JointKind::kRevolute;
};

/// One axis of an inertial sensor over all fitted segments.
struct InertialError {
  std::string name;    ///< such as "imu1.gyro_z"
  std::string unit;    ///< rad/s or m/s²
  double rmse = 0.0;   ///< of the motion that parameters and initial states were fitted with
  double noise = 0.0;  ///< standard deviation of a reading as found from the data
  int readings = 0;
};

/// A sensor whose readings were not used, and what that costs.
struct WithheldSensor {
  std::string name;                       ///< of an encoder, or of an axis such as "imu1.gyro_z"
  JointKind kind = JointKind::kRevolute;  ///< of an encoder
  std::string unit = {};                  ///< of an axis; empty: it is an encoder
  double rmse = 0.0;       ///< of its readings as they are predicted [rad, m or unit]
  double mean = 0.0;       ///< of these errors: large where the others do not tell its zero
  double noise = 0.0;      ///< of its readings, by their differences [rad, m or unit]
  double narrowing = 1.0;  ///< largest ratio of a deviation without all that is withheld to with it
  std::string narrowed;    ///< the parameter that it is of; empty: none
  bool at_start = false;   ///< has free parameters of its own, which nothing else tells
};

/// An instrument that reads along axes which are not square, and is not described so.
struct CrossAxes {
  std::string sensor, instrument;  ///< "gyroscope", "accelerometer", "moment", "force"
  std::string share;               ///< name of the parameter that shows it best
  double value = 0.0, standard_deviation = 0.0;  ///< of that [-]
  std::string moved;                             ///< the estimate that it moves most
  double shift = 0.0;                            ///< by so many of its standard deviations
};

/// Result of a calibration.
struct Calibration {
  EstimateKind kind = EstimateKind::kShadow;
  std::vector<ParameterEstimate> parameters;  ///< the free ones
  std::vector<ParameterEstimate> tied;        ///< what follows from them by ties
  Eigen::MatrixXd covariance;                 ///< free × free
  Eigen::MatrixXd correlation;                ///< free × free
  std::vector<NullDirection> null_directions;
  std::vector<SimulationError> simulation;
  std::vector<InertialError> inertial;   ///< axes that were read; physical parameters only
  std::vector<WithheldSensor> withheld;  ///< physical parameters only
  std::vector<CrossAxes> cross_axes;     ///< evident ones that no parameter stands for
  std::vector<Contradiction> contradictions;  ///< the gravest first
  std::vector<SegmentTrajectory> trajectories;
  Mechanism mechanism;  ///< with the estimated values in place
  /// Physical: noise levels found, one a sensor [rad] and one a hinge [rad/s²/√Hz]; the latter 0
  /// where the data show none.
  Eigen::VectorXd angle_noise, acceleration_noise;
  /// Directions that the data cannot see at the start, before anything was fitted.
  std::vector<NullDirection> initial_null_directions;
  double cost = 0.0;  ///< Σ‖r‖² at the optimum; physical: of whitened residuals
  /// Of the estimated states [rad], a slide counting as JointUnits::scale says.
  double observation_rmse = 0.0;
  double step = 0.0;                ///< h used [s]
  double state_error_weight = 0.0;  ///< κ used; shadow only
  bool approached = false;          ///< shadow: whether it began at the physical parameters
  Termination termination = Termination::kNumericalFailure;
  int iterations = 0;
  std::vector<IterationRecord> history;
  bool refined = false;  ///< the estimates are those of the simulation's refinement; termination,
                         ///< iterations, history, cost above remain those of the joint estimation
  Termination refinement_termination = Termination::kNumericalFailure;
  int refinement_iterations = 0;
  std::vector<IterationRecord> refinement_history;  ///< shadow: costs are Σ of squared angle errors
  Verdict verdict;
  std::vector<PieceEstimate> pieces;  ///< physical parameters only, as is what follows from them
  Agreement agreement;
  std::vector<Combination> combinations;
  std::vector<PrincipalInertia> principal;  ///< of bodies whose moments are free; physical alone
  std::vector<Combination> base;            ///< inertial parameters as motion sees them; likewise
  std::vector<PriorConflict> conflicts;     ///< priors that the data contradict; likewise
  /// Whether the stage that the estimates come from converged, to something.
  bool converged() const {
    return verdict.kind != VerdictKind::kExplainsNothing &&
           is_converged(refined ? refinement_termination : termination);
  }
  std::vector<Finding> findings;   ///< about the recordings and the description
  std::vector<std::string> notes;  ///< what was chosen, dropped or suspicious, for people
};

}  // namespace estimator
