#pragma once

#include <string>
#include <vector>

#include "estimator/fit/fit_options.hpp"
#include "estimator/fit/shadow/trajectory_data.hpp"
#include "estimator/messages/message.hpp"
#include "estimator/model/mechanism.hpp"
#include "estimator/signal/time_series.hpp"

namespace estimator {

/// Largest automatic time step of shadow parameters [s]. Over 15 s of a Furuta release, estimated
/// inertias are within 1.3 % of the true values at 5 ms and within 0.2 % at 2 ms.
inline constexpr double kLongestChosenStep = 0.005;

/// Input of a shadow calibration: segments resampled to the time step, and notes.
struct ShadowInput {
  Mechanism mechanism;  ///< mechanism with the options' compliance and damping time
  double step = 0.0;    ///< time step [s]
  std::vector<TrajectoryData> data;
  std::vector<std::string> sources;  ///< name of the recording of each segment
  std::vector<Message> notes;
};

/// Checks the input of a shadow calibration and resamples it to the time step.
///
/// Joints whose compliance would oscillate are critically damped, unless the rig file gives a
/// damping time.
///
/// The default step is the longest multiple, or integer fraction, of the sampling period up to
/// kLongestChosenStep. Segments of fewer than 10 nodes are dropped, with a note.
/// @throws std::invalid_argument with the error and its remedy
ShadowInput prepare_shadow_input(const Mechanism& mechanism,
                                 const std::vector<Recording>& recordings,
                                 const CalibrationOptions& options);

/// Returns the initial state error weight κ = (σ_y/σ_p)² for a rig of any size. σ_y is the noise of
/// the angles. σ_p is a fiftieth of the typical change of a body's momentum in a step.
double choose_state_error_weight(const Mechanism& mechanism,
                                 const std::vector<TrajectoryData>& data, double angle_noise,
                                 double step);

/// Returns the mechanism with stick speeds of at least half the typical speed change of a joint in
/// a step. Lower stick speeds make friction jump in a step, which stops the solver far from the
/// optimum.
Mechanism raise_stick_speeds(const Mechanism& mechanism, const std::vector<TrajectoryData>& data,
                             double step);

}  // namespace estimator
