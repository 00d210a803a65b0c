#pragma once

#include <Eigen/Core>
#include <functional>
#include <vector>

#include "estimator/assessment/identifiability/identifiability.hpp"
#include "estimator/model/encoder.hpp"
#include "estimator/model/mechanism.hpp"
#include "estimator/signal/time_series.hpp"
#include "estimator/simulation/interval/interval_motion.hpp"
#include "estimator/simulation/segment_controls.hpp"

namespace estimator {

/// The settings that all plans of an experiment design have in common.
struct PlanSettings {
  double period = 0.0;    ///< time for which each command is held constant [s]
  double rate = 0.0;      ///< sampling rate of the sensors [Hz]
  int motor = 0;          ///< commanded motor, index among the motors
  Eigen::VectorXd start;  ///< joint coordinates at rest before a run [rad or m]
  Eigen::VectorXd noise;  ///< standard deviation of a reading, one per sensor [rad or m]
  double coast = 0.0;     ///< simulated time after the last command [s]
  /// Time over which a feedback law computes rates from differences of readings [s].
  double rate_window = 0.0;
  /// Quantization step of each sensor [rad or m]; 0 for sensors with white noise.
  Eigen::VectorXd quantum = Eigen::VectorXd::Zero(noise.size());
};

/// The extreme readings and speeds of a motion, one per sensor, including the motion after the last
/// command. Not finite if the simulation diverges.
struct MotionExtremes {
  Eigen::VectorXd lowest, highest;  ///< [rad or m]
  Eigen::VectorXd fastest;          ///< largest speed [rad/s or m/s]
};

/// The predicted information that the recording of a plan would give about the free parameters.
struct PlanInformation {
  Eigen::MatrixXd information;  ///< information matrix, free × free
  /// Covariance of the gradient of the least-squares cost due to reading errors. Equals
  /// `information` if no sensor has quantization errors.
  Eigen::MatrixXd scatter;
  Eigen::VectorXd scale;  ///< diagonal of the information matrix for a known initial state
  double initial_state_sensitivity =
      0.0;  ///< largest derivative of a reading with respect to an initial coordinate
};

/// The simulated motions of several plans.
struct PlanMotion {
  std::vector<SegmentControls> controls;
  std::vector<MotionInterval> intervals;
  std::vector<MotionExtremes> excursions;  ///< one per plan
  /// Joint coordinates of each plan until the last command, samples × joints.
  std::vector<Eigen::MatrixXd> joints;
  Eigen::MatrixXd end;  ///< joint coordinates at the last command, joints × plans
};

/// A feedback function that computes the command of one plan, given by its index, at a sample.
/// @param sample  index of the sample
/// @param joints  all joint coordinates [rad or m]; rounded to whole counts for joints with their
///                own encoder
/// @param rates   derivatives of the joint coordinates, as measured [rad/s or m/s]
using PlanFeedback =
    std::function<double(Eigen::Index plan, Eigen::Index sample, const Eigen::VectorXd& joints,
                         const Eigen::VectorXd& rates)>;

/// Simulates many experiment plans at once from rest, and predicts how much information their
/// recordings would give about the free parameters. The initial states count as unknown.
class PlanEvaluator {
 public:
  /// @param mechanism  defines the free parameters and the structure of the equations
  /// @throws std::invalid_argument if the mechanism's loops cannot be closed at the start
  PlanEvaluator(const Mechanism& mechanism, PlanSettings facts, int threads);

  const PlanSettings& facts() const { return facts_; }

  /// Returns the commands that a feedback law gives in a simulation, samples × plans. The last
  /// command is zero. `move` with these commands reproduces the motion.
  Eigen::MatrixXd simulate_feedback_law(const Mechanism& values, Eigen::Index samples,
                                        Eigen::Index plans, const PlanFeedback& feedback) const;

  /// Simulates the motions of several plans from rest, given their commands.
  /// @param values    a mechanism of the same structure, with the parameter values to simulate
  /// @param commands  command of each plan at each sample, samples × plans
  PlanMotion move(const Mechanism& values, const Eigen::MatrixXd& commands) const;

  /// Predicts the information that recordings of some plans would give.
  /// @param places  indices of the plans
  std::vector<PlanInformation> predict_information(const Mechanism& values,
                                                   const PlanMotion& motion,
                                                   const std::vector<std::size_t>& places) const;

 private:
  std::vector<SegmentControls> hold(const Mechanism& values, const Eigen::MatrixXd& commands) const;
  Eigen::VectorXd initial_state() const;
  Eigen::VectorXd joint_counts() const;
  MotionInterval make_motion_interval(const SegmentControls& controls, Eigen::Index samples) const;
  void coast(const Mechanism& values, const PlanMotion& motion,
             std::vector<Eigen::MatrixXd>& joints) const;
  Eigen::VectorXd readings_without_offset(int sensor, const Eigen::MatrixXd& joints) const;
  MotionExtremes compute_motion_extremes(const Eigen::MatrixXd& joints) const;
  Eigen::MatrixXd compute_gradient_covariance(int sensor, const Eigen::MatrixXd& rows,
                                              const Eigen::VectorXd& turn) const;
  PlanInformation compute_plan_information(const IntervalSensitivities::IntervalDerivatives& slopes,
                                           const Eigen::MatrixXd& joints) const;

  PlanSettings facts_;
  std::vector<Encoder> sensors_;
  Eigen::VectorXd start_;  // of the joints, loops closed
  TreeProgram program_;
  std::vector<Eigen::Index> moving_;  // free-parameter positions of the motion parameters
  struct FreeDependency {
    Eigen::Index place;  // likewise
    double factor;
  };
  std::vector<std::vector<FreeDependency>> offsets_, delays_;  // parameters behind offset and delay
  Eigen::Index free_count_;
  int steps_a_sample_;
  double near_rest_;  // longest step with creeping joints near rest [s]
  int threads_;
};

/// Simulates the release of the joints at rest without a command, and returns the joint coordinates
/// half a minute later. Friction may keep joints out of equilibrium. Returns `joints` if the
/// mechanism has no motor.
/// @param joints  initial coordinates [rad or m]
Eigen::VectorXd simulate_release_to_rest(const Mechanism& mechanism, const Eigen::VectorXd& joints);

/// Computes the joint coordinates at rest before a run. Joints without a given coordinate come to
/// rest after a release at zero. If the rig would then stand upright, its stable equilibrium is
/// used instead.
/// @param placed  given coordinates, one per joint [rad or m]; NaN if not given
Eigen::VectorXd compute_resting_coordinates(const Mechanism& mechanism,
                                            const Eigen::VectorXd& placed);

/// Predicts the uncertainty of the free parameters after a calibration with earlier recordings and
/// with the recording of a planned run. Assumes a fit of the open-loop simulation
/// (calibrate_physical), and readings with given noise or quantization.
/// @param earlier  existing recordings
/// @param run      the planned run: readings without noise and quantization, and controls
/// @param noise    standard deviation of a reading, one per sensor [rad or m]
/// @param quantum  quantization step of each sensor with quantization errors [rad or m]; 0: white
///                 noise
/// @param known    information matrix, free × free, of priors and of recordings that no longer
///                 exist; if empty, priors only
/// @throws std::invalid_argument as `calibrate`
ParameterUncertainty predict_plan_uncertainty(const Mechanism& mechanism,
                                              const std::vector<Recording>& earlier,
                                              const Segment& run, const Eigen::VectorXd& noise,
                                              const Eigen::VectorXd& quantum,
                                              const Eigen::MatrixXd& known, int threads);

}  // namespace estimator
