#pragma once

#include <Eigen/Core>
#include <optional>
#include <string>
#include <vector>

#include "estimator/fit/fit_options.hpp"
#include "estimator/fit/physical/joint_mobility.hpp"
#include "estimator/fit/physical/shooting_problem.hpp"

namespace estimator {

/// Process noise of a loose fit, of the accelerations.
inline constexpr double kGenerousShare = 0.02;

/// Perfect readings still get a finite weight [rad].
inline constexpr double kAngleNoiseFloor = 1e-7;

/// What shooting works on: checked segments and where their states start.
struct ShootingInput {
  std::vector<Segment> segments;
  std::vector<std::string> sources;  ///< name of the recording of each segment
  std::vector<Eigen::MatrixXd> states;
  std::vector<double> state_spacing;
  Eigen::VectorXd fastest;  ///< speed of every hinge, from the states [rad/s]
  ShootingNoise noise;  ///< first guess: readings from their differences, a generous process noise
  /// Of what each sensor reads, the generous process noise [rad/s²/√Hz].
  Eigen::VectorXd sensor_acceleration;
  ShootingGrid grid;
  std::optional<ShootingGrid> last_grid;  ///< of loops, whose last stages take shorter steps
  std::vector<std::string> notes;
};

/// Checks mechanism and recordings and takes what is long enough.
/// @throws std::invalid_argument naming what is wrong and what to do
ShootingInput prepare_shooting(const Mechanism& mechanism, const std::vector<Recording>& recordings,
                               const CalibrationOptions& options);

/// Shortens all steps to what friction asks for: where joints creep, also to the period of
/// controls, since a line across several of them sets a joint in motion at another instant.
void limit_steps(const FrictionSteps& longest, ShootingInput& input);

/// Goes over to the steps of the last stages. False where they are those of the first.
bool take_last_steps(ShootingInput& input);

/// Shortest spacing of nodes that is chosen: there are ten samples in it [s].
double least_interval(const std::vector<Segment>& segments);

/// Spacing of nodes where no joint asks for another [s].
double usual_interval(const std::vector<Segment>& segments);

/// Whether friction would have to know the reactions in a closed loop, which its motion leaves
/// open.
bool has_loaded_loop(const Mechanism& mechanism);

/// Whether the mechanism is one for shooting and any recording is long enough.
bool can_shoot(const Mechanism& mechanism, const std::vector<Recording>& recordings);

/// With dry friction that holds, which needs no short steps. It tells apart what a start can be far
/// from, and no more is asked of it.
Mechanism without_creep(Mechanism mechanism);

}  // namespace estimator
