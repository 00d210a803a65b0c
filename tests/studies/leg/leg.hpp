#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "estimator/model/mechanism.hpp"
#include "estimator/signal/time_series.hpp"
#include "service/import/rig_file.hpp"

// A leg whose knee is driven by a four-bar linkage: settings and results of the study.

namespace service {

/// Motion of a driven joint: sines about an angle, tracked by a stiff controller.
struct LegDrive {
  int joint = 0;           ///< in the leg with its linkage
  double about = 0.0;      ///< [rad]
  double amplitude = 0.0;  ///< maximum of the sum of sines [rad]
  double stiffness = 0.0;  ///< [N·m/rad]
  double damping = 0.0;    ///< [N·m·s/rad]
};

/// Randomly drawn legs and their recordings (StudyLeg.Draw of tests/studies/study.proto).
struct RandomLegs {
  int legs = 0;
  std::uint64_t seed = 0;
  double deviation = 0.0;               ///< relative deviation of masses, inertias and `drawn`
  estimator::Mechanism typical;         ///< the linkage's rig with the values to vary
  std::vector<int> drawn;               ///< parameters of `typical` that are drawn
  std::vector<LegDrive> drives;         ///< one per motor
  double slowest = 0.0, fastest = 0.0;  ///< of the sines [Hz]
  double duration = 0.0, period = 0.0;  ///< of a recording, and of its samples [s]
  double encoder_noise = 0.0;           ///< standard deviation [rad]
};

/// Existing recordings (StudyLeg.Recorded).
struct LegFiles {
  std::string training, held_out;  ///< paths
};

struct LegStudy {
  Rig loop, ratio;               ///< with the linkage, and with a constant ratio instead
  estimator::Mechanism nominal;  ///< of `ratio`
  /// Joints of `loop`: the crank driven by the knee motor, and the knee.
  int crank = 0, knee = 0;
  double torque_noise = 0.0;  ///< standard deviation of a motor's measured torque [N·m]
  double cutoff = 0.0;        ///< low-pass cutoff for the measured motion [Hz]
  std::optional<RandomLegs> drawing;
  std::optional<LegFiles> files;  ///< used if nothing is drawn
};

/// One leg's recordings.
struct LegRecordings {
  std::string name;
  std::string training, held_out;             ///< CSV text; empty if they are files
  std::optional<estimator::Mechanism> truth;  ///< of a drawn leg
};

/// Draws a leg and records it twice with different motions.
LegRecordings draw_leg(const LegStudy& study, std::uint64_t index);

/// Measured and predicted motor torques of a recording, samples × motors [N·m].
struct LegTorques {
  double start = 0.0, period = 0.0;     ///< of the samples [s]
  Eigen::MatrixXd measured, predicted;  ///< of motors' torques
  /// Angle of the knee [rad] and d knee / d crank; empty if not requested.
  Eigen::VectorXd knee, transmission;

  /// Root mean square differences, one per motor [N·m].
  Eigen::VectorXd errors() const;
};

/// Computes the inverse dynamics of a model along the measured motion of a recording. Angles pass a
/// zero-lag low-pass (fourth order, forward and backward); rates and accelerations are fourth-order
/// differences; loops are closed. Evaluates midway between samples, since a row's torque is
/// constant until the next. Omits the first and last 0.25 s, where the low-pass starts.
///
/// @param crank, knee  joints whose transmission is computed; −1: none
/// @throws std::invalid_argument if loops cannot be closed or motors do not determine the motion
LegTorques predict_torques(const estimator::Mechanism& model, const estimator::Segment& segment,
                           double cutoff, int crank = -1, int knee = -1);

}  // namespace service
