#pragma once

#include <Eigen/Core>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "estimator/fit/fit_options.hpp"
#include "estimator/fit/physical/joint_mobility.hpp"
#include "estimator/fit/physical/shooting/shooting_problem.hpp"
#include "estimator/messages/message.hpp"
#include "estimator/model/mechanism.hpp"
#include "estimator/signal/time_series.hpp"

namespace estimator {

/// Process noise at the start of a fit, relative to the root-mean-square acceleration of a joint.
inline constexpr double kInflatedNoiseFraction = 0.02;

/// Lower limit of encoder noise levels [rad], which keeps the weight of exact readings finite.
inline constexpr double kAngleNoiseFloor = 1e-7;
/// Lower limit of the noise levels of inertial sensors [rad/s, m/s²].
inline constexpr double kInertialNoiseFloor = 1e-7;

/// The input of a multiple-shooting fit: checked segments, initial states, noise levels, and
/// integration steps.
struct ShootingInput {
  std::vector<Segment> segments;
  std::vector<std::string> sources;  ///< name of the recording of each segment
  std::vector<Eigen::MatrixXd> states;
  std::vector<double> state_spacing;
  Eigen::VectorXd max_speed;  ///< largest initial speed of every joint [rad/s]
  ShootingNoise noise;        ///< initial levels, with inflated process noise
  /// Initial process noise of the coordinate read by each encoder [rad/s²/√Hz].
  Eigen::VectorXd sensor_acceleration;
  /// Process noise of each coordinate that is negligible compared with noise of the controls
  /// [rad/s²/√Hz]; zero without noise of the controls.
  Eigen::VectorXd least_acceleration;
  ShootingGrid grid;
  std::optional<ShootingGrid> last_grid;  ///< shorter steps for the last stages; only for loops
  std::vector<Message> notes;
};

/// Checks mechanism and recordings, selects segments that are long enough, and computes initial
/// states and noise levels, but no integration steps.
/// @throws std::invalid_argument with the error and its remedy
ShootingInput prepare_shooting_data(const Mechanism& mechanism,
                                    const std::vector<Recording>& recordings,
                                    const CalibrationOptions& options);

/// Prepares the data, and chooses the integration steps for the parameter values of the mechanism.
/// @throws std::invalid_argument with the error and its remedy
ShootingInput prepare_shooting_input(const Mechanism& mechanism,
                                     const std::vector<Recording>& recordings,
                                     const CalibrationOptions& options);

/// Chooses the integration steps according to the speeds of the recorded motion. No step is longer
/// than the friction of the mechanism allows; for this limit, Coulomb friction counts as
/// set-valued. With inertial sensors, steps are at most a sampling period long, because rates and
/// accelerations within a step are less accurate than angles.
/// @throws std::invalid_argument if friction requires too short a step
void choose_integration_steps(const Mechanism& mechanism, const CalibrationOptions& options,
                              ShootingInput& input);

/// Limits all integration steps to the longest steps that friction allows. Smoothed Coulomb
/// friction also limits the steps to the sampling period of the controls: averaged controls would
/// shift the instant at which a joint starts to move.
void limit_integration_steps(const FrictionStepLimits& longest, ShootingInput& input);

/// Switches to the shorter integration steps of the last fit stages. Returns false if the steps do
/// not change.
bool use_final_integration_steps(ShootingInput& input);

/// Returns the smallest default time between shooting nodes [s], ten sampling periods.
double min_node_interval(const std::vector<Segment>& segments);

/// Returns the default time between shooting nodes [s].
double default_node_interval(const std::vector<Segment>& segments);

/// Returns whether a mechanism with closed loops has load-proportional friction, which physical
/// parameters do not support: the motion of a loop does not determine the bearing load.
bool has_load_friction_in_loop(const Mechanism& mechanism);

/// Returns whether multiple shooting supports the mechanism, and at least one recording is long
/// enough.
bool is_shooting_supported(const Mechanism& mechanism, const std::vector<Recording>& recordings);

/// Replaces smoothed Coulomb friction by set-valued friction, and returns the mechanism. Set-valued
/// friction needs no short integration steps and suffices to improve initial values.
Mechanism with_set_valued_friction(Mechanism mechanism);

/// Returns whether a name matches a pattern, in which * stands for any number of characters.
bool matches_pattern(std::string_view name, std::string_view pattern);

/// Returns the indices of bodies that are absent in a recording (Body::present_in_recordings).
/// @param recording  name of the recording or of its file
std::vector<int> find_absent_bodies(const Mechanism& mechanism, const std::string& recording);

/// Returns a note for each recording-name pattern of a body that matches no recording.
std::vector<Message> find_unmatched_patterns(const Mechanism& mechanism,
                                             const std::vector<Recording>& recordings);

/// Parts of the recordings from which initial parameter values are improved. A few parts save time,
/// because this improvement needs many simulations.
struct Excerpt {
  std::vector<Segment> segments = {};
  /// Initial states of each segment of the excerpt, as in ShootingInput.
  std::vector<Eigen::MatrixXd> states = {};
  std::vector<double> state_spacing = {};             ///< time between columns of `states` [s]
  std::vector<std::vector<double>> local_steps = {};  ///< local steps of a ShootingGrid [s]
  bool is_whole = true;
};

/// Returns the complete recordings in the form of an excerpt.
Excerpt make_complete_excerpt(const ShootingInput& input);

/// Selects time windows, distributed evenly over each segment, as an excerpt. Returns the complete
/// recordings if the windows would omit less than half of them.
/// @param duration  approximate total length of all windows [s]
/// @param window    length of each window [s]
Excerpt select_excerpt(const ShootingInput& input, double duration, double window);

}  // namespace estimator
