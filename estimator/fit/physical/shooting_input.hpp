#pragma once

#include <Eigen/Core>
#include <optional>
#include <string>
#include <vector>

#include "estimator/fit/fit_options.hpp"
#include "estimator/fit/physical/joint_mobility.hpp"
#include "estimator/fit/physical/shooting_problem.hpp"

namespace estimator {

/// Standard deviation of inflated process noise, as a fraction of the accelerations.
inline constexpr double kInflatedNoiseFraction = 0.02;

/// Lower limit of noise levels, so that perfect readings have a finite weight [rad].
inline constexpr double kAngleNoiseFloor = 1e-7;

/// Input of shooting: checked segments and initial states.
struct ShootingInput {
  std::vector<Segment> segments;
  std::vector<std::string> sources;  ///< name of the recording of each segment
  std::vector<Eigen::MatrixXd> states;
  std::vector<double> state_spacing;
  Eigen::VectorXd max_speed;  ///< largest speed of every joint, from the states [rad/s]
  ShootingNoise noise;        ///< initial levels: readings from differences, inflated process noise
  /// Inflated process noise for each sensor's coordinate [rad/s²/√Hz].
  Eigen::VectorXd sensor_acceleration;
  ShootingGrid grid;
  std::optional<ShootingGrid> last_grid;  ///< for loops: shorter steps for the last stages
  std::vector<std::string> notes;
};

/// Checks mechanism and recordings and selects segments that are long enough.
/// @throws std::invalid_argument with the error and its remedy
ShootingInput prepare_shooting(const Mechanism& mechanism, const std::vector<Recording>& recordings,
                               const CalibrationOptions& options);

/// Limits all steps as friction requires. With smoothed Coulomb friction steps are also at most the
/// period of the controls, since averaging them shifts the instant at which a joint starts to move.
void limit_steps(const FrictionSteps& longest, ShootingInput& input);

/// Switches to the steps of the last stages. Returns false if these equal the first ones.
bool use_final_steps(ShootingInput& input);

/// Shortest automatic node interval: ten samples [s].
double min_interval(const std::vector<Segment>& segments);

/// Default node interval [s].
double default_interval(const std::vector<Segment>& segments);

/// Whether a joint in a closed loop has load-dependent friction. The motion leaves that load
/// undetermined.
bool has_loaded_loop(const Mechanism& mechanism);

/// Whether the mechanism is suitable for shooting and any recording is long enough.
bool can_shoot(const Mechanism& mechanism, const std::vector<Recording>& recordings);

/// Returns the mechanism with set-valued Coulomb friction, which needs no short steps. This
/// suffices to improve initial values.
Mechanism with_sticking_friction(Mechanism mechanism);

}  // namespace estimator
