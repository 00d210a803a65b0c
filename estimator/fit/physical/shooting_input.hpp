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

/// Inflated process noise relative to the root mean square accelerations, with which a fit starts.
inline constexpr double kInflatedNoiseFraction = 0.02;

/// Lower limit of encoder noise levels [rad]; it keeps the weight of perfect readings finite.
inline constexpr double kAngleNoiseFloor = 1e-7;
/// The same for inertial sensors [rad/s, m/s²].
inline constexpr double kInertialNoiseFloor = 1e-7;

/// Input of a multiple-shooting fit: checked segments, initial states, noise levels and steps.
struct ShootingInput {
  std::vector<Segment> segments;
  std::vector<std::string> sources;  ///< name of the recording of each segment
  std::vector<Eigen::MatrixXd> states;
  std::vector<double> state_spacing;
  Eigen::VectorXd max_speed;  ///< largest initial speed of every joint [rad/s]
  ShootingNoise noise;        ///< initial levels, with inflated process noise
  /// Inflated process noise of the coordinate that each sensor reads [rad/s²/√Hz].
  Eigen::VectorXd sensor_acceleration;
  ShootingGrid grid;
  std::optional<ShootingGrid> last_grid;  ///< for loops: shorter steps for the last stages
  std::vector<Message> notes;
};

/// Checks mechanism and recordings and selects segments that are long enough.
/// @throws std::invalid_argument with the error and its remedy
ShootingInput prepare_shooting_input(const Mechanism& mechanism,
                                     const std::vector<Recording>& recordings,
                                     const CalibrationOptions& options);

/// Limits all integration steps as friction requires. Smoothed Coulomb friction also limits them to
/// the sampling period of the controls: averaged controls would shift the instant at which a joint
/// starts.
void limit_integration_steps(const FrictionStepLimits& longest, ShootingInput& input);

/// Switches to the integration steps of the last stages. Returns false if nothing changes.
bool use_final_integration_steps(ShootingInput& input);

/// Returns the shortest automatic time between shooting nodes, ten samples [s].
double min_node_interval(const std::vector<Segment>& segments);

/// Returns the default time between shooting nodes [s].
double default_node_interval(const std::vector<Segment>& segments);

/// Returns whether a mechanism with closed loops has load-dependent friction. The motion of a loop
/// does not determine the bearing load.
bool has_load_friction_in_loop(const Mechanism& mechanism);

/// Returns whether multiple shooting supports the mechanism and any recording is long enough.
bool is_shooting_supported(const Mechanism& mechanism, const std::vector<Recording>& recordings);

/// Returns the mechanism with set-valued instead of smoothed Coulomb friction. Set-valued friction
/// needs no short steps and suffices to improve initial values.
Mechanism with_set_valued_friction(Mechanism mechanism);

/// Returns whether a name matches a pattern, in which * stands for any characters.
bool matches_pattern(std::string_view name, std::string_view pattern);

/// Returns the bodies that are absent in a recording (Body::present_in_recordings), ascending.
/// @param recording  name of the recording or of its file
std::vector<int> find_absent_bodies(const Mechanism& mechanism, const std::string& recording);

/// Returns a note for every Body::present_in_recordings pattern that matches no recording.
std::vector<Message> find_unmatched_patterns(const Mechanism& mechanism,
                                             const std::vector<Recording>& recordings);

/// Parts of the recordings for improving initial values, which takes many simulations. These parts
/// need not identify all parameters well.
struct Excerpt {
  std::vector<Segment> segments = {};
  /// Initial states as in ShootingInput, from the first sample of each excerpted segment on.
  std::vector<Eigen::MatrixXd> states = {};
  std::vector<double> state_spacing = {};             ///< time between columns of `states` [s]
  std::vector<std::vector<double>> local_steps = {};  ///< local steps of a ShootingGrid [s]
  bool is_whole = true;
};

/// Returns the complete recordings as an excerpt.
Excerpt make_complete_excerpt(const ShootingInput& input);

/// Returns time windows distributed evenly over each segment, at least one per segment. If these
/// would leave out less than half of the recordings, returns the complete recordings.
///
/// @param duration  approximate total length of all windows [s]
/// @param window    length of each window [s]
Excerpt select_excerpt(const ShootingInput& input, double duration, double window);

}  // namespace estimator
