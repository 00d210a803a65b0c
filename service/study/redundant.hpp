#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "estimator/instant/motion_filter.hpp"
#include "estimator/model/mechanism.hpp"

// States, accelerations and loads from redundant sensors: what a study asks for, and what comes
// out.

namespace service {

/// Standard deviations of what is read.
struct StudyNoise {
  double gyroscope = 0.0;      ///< [rad/s]
  double accelerometer = 0.0;  ///< [m/s²]
  double force = 0.0;          ///< [N]
  double moment = 0.0;         ///< [N·m], of joints' torques too
  double encoder = 0.0;        ///< [rad]
};

/// Chains drawn at random (StudyChain of proto/study.proto).
struct StudyChain {
  int links = 0;
  int draws = 0;
  std::uint64_t seed = 0;
  double angle_error = 0.0, rate_error = 0.0, dynamics_error = 0.0;
  int records = 0;
  double duration = 0.0;  ///< of a record [s]
  double period = 0.0;    ///< [s]
  double jerk = 0.0;      ///< [rad/s³/√Hz]
};

/// A robot (StudyRobot of proto/study.proto).
struct StudyRobot {
  std::string path;                                 ///< of the rig file
  std::optional<estimator::Mechanism> mechanism;    ///< absent: the file is not there
  std::vector<int> gyroscopes, wrenches, withheld;  ///< inertial sensors, joints, joints
  Eigen::VectorXd about;                            ///< a joint [rad]
  double amplitude = 0.0;                           ///< [rad]
  double slowest = 0.0, fastest = 0.0;              ///< [Hz]
  std::uint64_t seed = 0;
  double duration = 0.0, period = 0.0;  ///< [s]
  double jerk = 0.0;                    ///< [rad/s³/√Hz]
  double outside_force = 0.0;           ///< [N]
  double outside_moment = 0.0;          ///< [N·m]
};

struct RedundantStudy {
  StudyNoise noise;
  std::optional<StudyChain> chain;
  std::optional<StudyRobot> robot;
};

/// Errors of one estimate. Of the dynamics d [Nori, eq. 1]: accelerations, torque, force and moment
/// of every link, its joint's acceleration; what pushes from outside is known to be nothing.
struct MotionErrors {
  Eigen::VectorXd angle, rate;  ///< a joint [rad, rad/s]
  double dynamics = 0.0;        ///< norm
};

/// One chain in one state.
struct ChainDraw {
  MotionErrors before, after;
  /// Standard deviations that the sensors alone allow, root of the sum over joints and over d.
  double angle_bound = 0.0, rate_bound = 0.0, dynamics_bound = 0.0;
  double lead = 0.0;  ///< FoundMotion::lead
  bool converged = false;
  bool right = false;    ///< every unknown within some deviations of the truth
  int iterations = 0;    ///< of the whole search
  double seconds = 0.0;  ///< of the whole search, processor time
  double again = 0.0;    ///< of an estimate from where the search ended, all derivatives included
  std::string line;      ///< chain, sensors, readings and results, as one JSON object
};

/// Mean squares over the instants of a record.
struct RecordErrors {
  double angle = 0.0, rate = 0.0, dynamics = 0.0;  ///< of norms: root mean square
  double angle_bound = 0.0, rate_bound = 0.0;      ///< by the estimates' covariances, likewise
  double normalised = 0.0;  ///< mean of squared errors of angles and rates over their variances
};

/// One chain over a time.
struct ChainRecord {
  RecordErrors instant, causal, smoothed;
  double seconds = 0.0;  ///< of the filter, an instant
  std::vector<double> times, angle_instant, angle_causal, angle_smoothed;  ///< norms [rad]
};

/// A robot over a time: errors of joints without encoder.
struct RobotRecord {
  int axes = 0;                     ///< read at an instant, and null readings of what pushes
  std::vector<std::string> joints;  ///< without encoder
  std::vector<estimator::JointKind> kinds;  ///< of these
  std::vector<double> times;                ///< [s]
  Eigen::MatrixXd instant, causal;          ///< joints × instants [rad or m]
  Eigen::MatrixXd deviation;                ///< of the causal ones
  std::vector<double> seconds;              ///< of an instant, causal
  double settled = 0.0;                     ///< errors count from this time on [s]
};

/// Draws a chain and a state, and estimates it.
ChainDraw run_draw(const StudyChain& chain, const StudyNoise& noise, std::uint64_t index);

/// Draws a chain and a motion, and estimates it.
ChainRecord run_record(const StudyChain& chain, const StudyNoise& noise, std::uint64_t index);

/// Moves the robot, and estimates how.
RobotRecord run_robot(const StudyRobot& robot, const StudyNoise& noise);

}  // namespace service
