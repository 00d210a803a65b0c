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

/// Standard deviations of the readings.
struct StudyNoise {
  double gyroscope = 0.0;      ///< [rad/s]
  double accelerometer = 0.0;  ///< [m/s²]
  double force = 0.0;          ///< [N]
  double moment = 0.0;         ///< [N·m], also of joint torques
  double encoder = 0.0;        ///< [rad]
};

/// Randomly drawn chains (StudyChain of tests/studies/study.proto).
struct RedundantChain {
  int links = 0;
  int draws = 0;
  std::uint64_t seed = 0;
  double angle_error = 0.0, rate_error = 0.0, dynamics_error = 0.0;
  int records = 0;
  double duration = 0.0;  ///< of a record [s]
  double period = 0.0;    ///< [s]
  double jerk = 0.0;      ///< [rad/s³/√Hz]
};

/// A robot (StudyRobot of tests/studies/study.proto).
struct RedundantRobot {
  std::string path;                                 ///< of the rig file
  std::optional<estimator::Mechanism> mechanism;    ///< absent: the file does not exist
  std::vector<int> gyroscopes, wrenches, held_out;  ///< inertial sensors, joints, joints
  Eigen::VectorXd about;                            ///< mean position per joint [rad]
  double amplitude = 0.0;                           ///< [rad]
  double slowest = 0.0, fastest = 0.0;              ///< [Hz]
  std::uint64_t seed = 0;
  double duration = 0.0, period = 0.0;  ///< [s]
  double jerk = 0.0;                    ///< [rad/s³/√Hz]
  double external_force = 0.0;          ///< [N]
  double external_moment = 0.0;         ///< [N·m]
};

struct RedundantStudy {
  StudyNoise noise;
  std::optional<RedundantChain> chain;
  std::optional<RedundantRobot> robot;
};

/// Errors of one estimate. The dynamic variables d [Nori, eq. 1] are the acceleration, torque,
/// force and moment of every link and its joint's acceleration; external wrenches are zero.
struct MotionErrors {
  Eigen::VectorXd angle, rate;  ///< per joint [rad, rad/s]
  double dynamics = 0.0;        ///< norm
};

/// The estimate of one chain in one state.
struct ChainResult {
  MotionErrors before, after;
  /// Standard deviations from the sensors only, root of the sum over joints and over d.
  double angle_bound = 0.0, rate_bound = 0.0, dynamics_bound = 0.0;
  double lead = 0.0;  ///< FoundMotion::lead
  bool converged = false;
  bool near_truth = false;  ///< every unknown within kRight standard deviations of the truth
  int iterations = 0;       ///< of the whole search
  double seconds = 0.0;     ///< of the whole search, processor time
  double repeat_seconds =
      0.0;           ///< time of an estimate from the search's result, with all derivatives
  std::string line;  ///< chain, sensors, readings and results as one JSON object
};

/// Errors over the instants of a record.
struct RecordErrors {
  double angle = 0.0, rate = 0.0, dynamics = 0.0;  ///< root mean square of the norms
  double angle_bound = 0.0, rate_bound = 0.0;      ///< from the estimates' covariances, likewise
  double normalised = 0.0;  ///< mean of squared errors of angles and rates over their variances
};

/// Estimates of one chain over time.
struct ChainRecord {
  RecordErrors instant, causal, smoothed;
  double seconds = 0.0;  ///< of the filter, per instant
  std::vector<double> times, angle_instant, angle_causal, angle_smoothed;  ///< norms [rad]
};

/// Estimates of a robot over time: errors of joints without encoders.
struct RobotRecord {
  int axes = 0;  ///< number of readings per instant, with the zero readings of external wrenches
  std::vector<std::string> joints;          ///< without encoder
  std::vector<estimator::JointKind> kinds;  ///< of these joints
  std::vector<double> times;                ///< [s]
  Eigen::MatrixXd instant, causal;          ///< joints × instants [rad or m]
  Eigen::MatrixXd deviation;                ///< standard deviations of the causal ones
  std::vector<double> seconds;              ///< per instant, causal
  double settled = 0.0;                     ///< errors count from this time on [s]
};

/// Draws a chain and a state, and estimates the state.
ChainResult run_draw(const RedundantChain& chain, const StudyNoise& noise, std::uint64_t index);

/// Draws a chain and a motion, and estimates the motion.
ChainRecord run_record(const RedundantChain& chain, const StudyNoise& noise, std::uint64_t index);

/// Simulates the robot and estimates its motion.
RobotRecord run_robot(const RedundantRobot& robot, const StudyNoise& noise);

}  // namespace service
