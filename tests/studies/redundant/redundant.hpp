#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "estimator/model/mechanism.hpp"
#include "tests/studies/motion_observer/motion_filter.hpp"

// States, accelerations and loads from redundant sensors: settings and results of the study.

namespace service {

/// Standard deviations of the noise of each kind of sensor.
struct StudyNoise {
  double gyroscope = 0.0;      ///< [rad/s]
  double accelerometer = 0.0;  ///< [m/s²]
  double force = 0.0;          ///< [N]
  double moment = 0.0;         ///< also of joint torques [N·m]
  double encoder = 0.0;        ///< [rad]
};

/// Settings for randomly drawn chains (StudyChain of tests/studies/study.proto).
struct RedundantChain {
  int links = 0;
  int draws = 0;
  std::uint64_t seed = 0;
  double angle_error = 0.0, rate_error = 0.0, dynamics_error = 0.0;
  int records = 0;
  double duration = 0.0;  ///< duration of a recording [s]
  double period = 0.0;    ///< sampling period [s]
  double jerk = 0.0;      ///< square root of the jerk's spectral density [rad/s³/√Hz]
};

/// Settings for a robot (StudyRobot of tests/studies/study.proto).
struct RedundantRobot {
  std::string path;                                 ///< path of the rig file
  std::optional<estimator::Mechanism> mechanism;    ///< absent: the file does not exist
  std::vector<int> gyroscopes, wrenches, held_out;  ///< of inertial sensors, joints, joints
  Eigen::VectorXd about;                            ///< mean position per joint [rad]
  double amplitude = 0.0;                           ///< amplitude of the motion [rad]
  double slowest = 0.0, fastest = 0.0;              ///< frequencies of the motion [Hz]
  std::uint64_t seed = 0;
  double duration = 0.0, period = 0.0;  ///< of the recording, and between samples [s]
  double jerk = 0.0;                    ///< [rad/s³/√Hz]
  double external_force = 0.0;          ///< standard deviation [N]
  double external_moment = 0.0;         ///< standard deviation [N·m]
};

struct RedundantStudy {
  StudyNoise noise;
  std::optional<RedundantChain> chain;
  std::optional<RedundantRobot> robot;
};

/// Errors of an estimate. The dynamic variables d [Nori, eq. 1] are the acceleration, torque, force
/// and moment of each link and the acceleration of its joint; external wrenches are zero.
struct MotionErrors {
  Eigen::VectorXd angle, rate;  ///< per joint [rad, rad/s]
  double dynamics = 0.0;        ///< norm of the error of d
};

/// Result of estimating the state of a random chain at one instant.
struct ChainResult {
  MotionErrors before, after;
  /// Standard deviations that the sensors alone allow: root of the sum over joints, or over the
  /// dynamic variables.
  double angle_bound = 0.0, rate_bound = 0.0, dynamics_bound = 0.0;
  double lead = 0.0;  ///< FoundMotion::cost_margin
  bool converged = false;
  bool near_truth = false;  ///< all errors below kNearTruthDeviations deviations
  int iterations = 0;       ///< iterations of the whole search
  double seconds = 0.0;     ///< processor time of the whole search [s]
  double repeat_seconds =
      0.0;  ///< time of an estimate from the result of the search, with all derivatives [s]
  std::string line;  ///< chain, sensors, readings and results as a JSON object
};

/// Errors over all instants of a recording.
struct RecordErrors {
  double angle = 0.0, rate = 0.0, dynamics = 0.0;  ///< root mean square of the norms
  double angle_bound = 0.0, rate_bound = 0.0;      ///< likewise, from estimated covariances
  double normalised = 0.0;  ///< mean squared error of angles and rates over their variances
};

/// Result of estimating the motion of a random chain over time.
struct ChainRecord {
  RecordErrors instant, causal, smoothed;
  double seconds = 0.0;  ///< computing time of the filter per instant [s]
  std::vector<double> times, angle_instant, angle_causal, angle_smoothed;  ///< errors: norms [rad]
};

/// Result of estimating the motion of a robot over time, with the errors of joints without
/// encoders.
struct RobotRecord {
  int axes = 0;  ///< number of readings per instant, with the zero readings of external wrenches
  std::vector<std::string> joints;          ///< names of joints without encoders
  std::vector<estimator::JointKind> kinds;  ///< kinds of these joints
  std::vector<double> times;                ///< [s]
  Eigen::MatrixXd instant, causal;          ///< errors, joints × instants [rad or m]
  Eigen::MatrixXd deviation;                ///< standard deviations of the causal estimates
  std::vector<double> seconds;              ///< computing time per instant, causal estimates [s]
  double settled = 0.0;                     ///< time from which errors count [s]
};

/// Draws a random chain and a random state, and estimates the state.
ChainResult run_draw(const RedundantChain& chain, const StudyNoise& noise, std::uint64_t index);

/// Draws a random chain and a random motion, and estimates the motion.
ChainRecord run_record(const RedundantChain& chain, const StudyNoise& noise, std::uint64_t index);

/// Simulates the robot's motion and estimates it.
RobotRecord run_robot(const RedundantRobot& robot, const StudyNoise& noise);

}  // namespace service
