#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "estimator/model/mechanism.hpp"
#include "estimator/signal/time_series.hpp"
#include "service/rig/rig_file.hpp"

// A leg whose knee is driven by a four-bar linkage: settings and results of the study.

namespace service {

/// Motion of a driven joint of the leg: sines about a mean angle, tracked by a stiff controller.
struct LegDrive {
  int joint = 0;           ///< index of the joint in the leg with its linkage
  double about = 0.0;      ///< mean angle [rad]
  double amplitude = 0.0;  ///< maximum of the sum of sines [rad]
  double stiffness = 0.0;  ///< [N·m/rad]
  double damping = 0.0;    ///< [N·m·s/rad]
};

/// Settings for random legs and their recordings (StudyLeg.Draw of tests/studies/study.proto).
struct RandomLegs {
  int legs = 0;
  std::uint64_t seed = 0;
  double deviation = 0.0;               ///< relative deviation of masses, inertias and `drawn`
  estimator::Mechanism typical;         ///< leg with the linkage; its values are varied
  std::vector<int> drawn;               ///< indices of further varied parameters of `typical`
  std::vector<LegDrive> drives;         ///< one per motor
  double slowest = 0.0, fastest = 0.0;  ///< frequencies of the sines [Hz]
  double duration = 0.0, period = 0.0;  ///< duration and sampling period of a recording [s]
  double encoder_noise = 0.0;           ///< standard deviation of encoder noise [rad]
};

/// Files of existing recordings of a leg (StudyLeg.Recorded).
struct LegFiles {
  std::string training, held_out;  ///< paths
};

struct LegStudy {
  Rig loop, ratio;               ///< rig with the linkage, and with a constant ratio
  estimator::Mechanism nominal;  ///< mechanism of `ratio`
  /// Joints of the rig `loop`: the crank that the knee motor drives, and the knee.
  int crank = 0, knee = 0;
  double torque_noise = 0.0;  ///< standard deviation of a motor's measured torque [N·m]
  double cutoff = 0.0;        ///< low-pass cutoff for the measured motion [Hz]
  std::optional<RandomLegs> drawing;
  std::optional<LegFiles> files;  ///< used if no legs are drawn
};

/// The two recordings of a leg.
struct LegRecordings {
  std::string name;
  std::string training, held_out;             ///< CSV text; empty if the recordings are files
  std::optional<estimator::Mechanism> truth;  ///< true values of a randomly drawn leg
};

/// Draws a random leg and simulates two recordings with different motions.
LegRecordings draw_leg(const LegStudy& study, std::uint64_t index);

/// Measured and predicted motor torques of a recording, samples × motors [N·m].
struct LegTorques {
  double start = 0.0, period = 0.0;     ///< of the first sample, and between samples [s]
  Eigen::MatrixXd measured, predicted;  ///< motor torques
  /// Angle of the knee [rad], and derivative of the knee angle by the crank angle; empty if not
  /// requested.
  Eigen::VectorXd knee, transmission;

  /// Returns the root mean square difference of measured and predicted torque of each motor [N·m].
  Eigen::VectorXd errors() const;
};

/// Predicts motor torques by a model's inverse dynamics along the measured motion of a recording.
/// Angles pass a zero-lag low-pass filter (fourth order, forward and backward) with the given
/// cutoff [Hz]; rates and accelerations are fourth-order differences; loops are closed. Torques are
/// predicted midway between samples, because the measured torque is constant until the next sample.
/// The first and last 0.25 s are omitted because the filter starts there.
///
/// @param crank, knee  joints between which the transmission is computed; −1: none
/// @throws std::invalid_argument if loops cannot be closed or motors do not determine the motion
LegTorques predict_torques(const estimator::Mechanism& model, const estimator::Segment& segment,
                           double cutoff, int crank = -1, int knee = -1);

}  // namespace service
