#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "estimator/model/mechanism.hpp"
#include "estimator/signal/time_series.hpp"
#include "service/import/rig_file.hpp"

// A leg whose knee is turned through a four-bar linkage: what a study asks for, and what comes out.

namespace service {

/// How a joint with a motor is moved: about an angle, by sines that a stiff controller follows.
struct LegDrive {
  int joint = 0;           ///< of the leg with its linkage
  double about = 0.0;      ///< [rad]
  double amplitude = 0.0;  ///< the largest of the sines' sum [rad]
  double stiffness = 0.0;  ///< [N·m/rad]
  double damping = 0.0;    ///< [N·m·s/rad]
};

/// Legs drawn at random, and how they are recorded (StudyLeg.Draw of proto/study.proto).
struct LegDrawing {
  int legs = 0;
  std::uint64_t seed = 0;
  double deviation = 0.0;               ///< of masses, inertias and `typical`, as a share
  estimator::Mechanism typical;         ///< the linkage's rig with the values to draw about
  std::vector<int> drawn;               ///< parameters of `typical` that are drawn
  std::vector<LegDrive> drives;         ///< one a motor
  double slowest = 0.0, fastest = 0.0;  ///< of the sines [Hz]
  double duration = 0.0, period = 0.0;  ///< of a recording, of its samples [s]
  double encoder_noise = 0.0;           ///< standard deviation [rad]
};

/// Recordings that are there already (StudyLeg.Recorded).
struct LegFiles {
  std::string training, held_out;  ///< paths
};

struct LegStudy {
  Rig loop, ratio;               ///< with its linkage, and with a constant ratio in its place
  estimator::Mechanism nominal;  ///< of `ratio`
  /// Joints of `loop`: what the motor of the knee turns, and the knee.
  int crank = 0, knee = 0;
  double torque_noise = 0.0;  ///< standard deviation of a motor's measured torque [N·m]
  double cutoff = 0.0;        ///< of the low-pass that the measured motion goes through [Hz]
  std::optional<LegDrawing> drawing;
  std::optional<LegFiles> files;  ///< where nothing is drawn
};

/// One leg's recordings.
struct LegCase {
  std::string name;
  std::string training, held_out;             ///< as CSV text; empty where they are files
  std::optional<estimator::Mechanism> truth;  ///< of a leg that was drawn
};

/// Draws a leg and records it twice, with motions of their own.
LegCase draw_leg(const LegStudy& study, std::uint64_t index);

/// Torques of the motors of a recording, samples × motors [N·m], and what a model says of them.
struct LegTorques {
  double start = 0.0, period = 0.0;     ///< of the samples [s]
  Eigen::MatrixXd measured, predicted;  ///< of motors' torques
  /// Angle of the knee [rad] and d knee / d crank; none where they are not asked for.
  Eigen::VectorXd knee, transmission;

  /// Root mean square of the differences, one a motor [N·m].
  Eigen::VectorXd errors() const;
};

/// Inverse dynamics of a model along the measured motion of a recording: angles through a low-pass
/// without lag (fourth order, forward and backward), rates and accelerations by differences of
/// fourth order, loops closed. The instants are those amid two samples, since a row's torque is
/// held until the next; the first and the last 0.25 s, where the low-pass begins, are left out.
///
/// @param crank, knee  joints between which the transmission is told; −1: it is not
/// @throws std::invalid_argument where loops cannot be closed or the motors do not determine it
LegTorques predict_torques(const estimator::Mechanism& model, const estimator::Segment& segment,
                           double cutoff, int crank = -1, int knee = -1);

}  // namespace service
