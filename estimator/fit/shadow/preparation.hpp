#pragma once

#include <string>
#include <vector>

#include "estimator/fit/fit_options.hpp"
#include "estimator/fit/segment_trajectory.hpp"
#include "estimator/fit/shadow/trajectory_data.hpp"
#include "estimator/fit/shadow/trajectory_problem.hpp"
#include "estimator/messages/message.hpp"
#include "estimator/model/mechanism.hpp"
#include "estimator/signal/time_series.hpp"

namespace estimator {

/// Largest default time step of shadow parameters [s]. For 15 s of a released Furuta pendulum,
/// estimated inertias are within 1.3 % of the true values at 5 ms, and within 0.2 % at 2 ms.
inline constexpr double kLongestChosenStep = 0.005;

/// The input of a calibration of shadow parameters (parameters of a SPOOK simulator): recordings
/// resampled to the time step, and notes.
struct ShadowInput {
  Mechanism mechanism;  ///< mechanism with the options' compliance and damping time
  double step = 0.0;    ///< time step [s]
  std::vector<TrajectoryData> data;
  std::vector<std::string> sources;  ///< name of the recording of each segment
  std::vector<Message> notes;
};

/// Checks the input of a calibration of shadow parameters (parameters of a SPOOK simulator), and
/// resamples the recordings to the time step. The default step is the longest multiple, or integer
/// fraction, of the sampling period up to kLongestChosenStep. Segments with fewer than 10 nodes are
/// omitted, with a note. Joints whose compliance would oscillate are critically damped, unless the
/// rig file gives a damping time.
/// @throws std::invalid_argument with the error and its remedy
ShadowInput prepare_shadow_input(const Mechanism& mechanism,
                                 const std::vector<Recording>& recordings,
                                 const CalibrationOptions& options);

/// Returns a weight κ = (σ_y/σ_p)² of the impulse residuals (state errors) that is suitable for a
/// rig of any size. σ_y is the noise of the angles. σ_p is a fiftieth of the typical change of a
/// body's momentum in a time step.
double choose_state_error_weight(const Mechanism& mechanism,
                                 const std::vector<TrajectoryData>& data, double angle_noise,
                                 double step);

/// Raises stick speeds of dry friction to at least half the typical speed change of the joint in a
/// time step, and returns the mechanism. At lower stick speeds friction jumps within a step, which
/// stops the solver far from the optimum.
Mechanism raise_stick_speeds(const Mechanism& mechanism, const std::vector<TrajectoryData>& data,
                             double step);

/// Returns the settings of the joint estimation of parameters and states that the options select.
TrajectorySettings make_trajectory_settings(const ShadowInput& input,
                                            const std::vector<Recording>& recordings,
                                            const CalibrationOptions& options);

/// Returns the measured and estimated angles of a segment after the joint estimation.
SegmentTrajectory make_segment_trajectory(const ShadowInput& input,
                                          const TrajectoryProblem& problem, int segment);

}  // namespace estimator
