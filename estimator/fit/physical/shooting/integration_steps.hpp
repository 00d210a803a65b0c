#pragma once

#include <Eigen/Core>
#include <vector>

#include "estimator/fit/physical/shooting/shooting_problem.hpp"
#include "estimator/signal/time_series.hpp"

namespace estimator {

/// Limits on the integration step of a motion.
struct IntegrationStepLimits {
  double turn;      ///< largest rotation of a joint in one step [rad]
  double longest;   ///< longest step [s]
  double shortest;  ///< shortest step, for speeds in wrong units [s]
};

/// Default step limits. The simulation of a released Furuta pendulum is then accurate to 1e-8 rad
/// after 15 s, a hundredth of the readings' resolution.
inline constexpr IntegrationStepLimits kSteps{.turn = 0.04, .longest = 4e-3, .shortest = 1e-3};

/// Step limits for the last fit stages of mechanisms with loops. Joints reverse in singular
/// configurations, where the motion has higher frequencies than joint speeds suggest. A four-bar
/// linkage is accurate to 2e-6 rad after 15 s with kSteps, and to 1e-8 rad with kLoopSteps.
inline constexpr IntegrationStepLimits kLoopSteps{.turn = 0.012, .longest = 1e-3, .shortest = 1e-4};

/// Returns the integration step for a motion [s]. Errors grow with the fourth power of the rotation
/// per step.
///
/// @param max_speed  largest speed of every joint; for prismatic joints in equivalent rad/s [rad/s]
double choose_integration_step(const Eigen::VectorXd& max_speed,
                               const IntegrationStepLimits& limits);

/// Returns an integration step for every kStepPiece seconds of a segment [s]. Where controls
/// change, averaging them in a step is less accurate than the integration, so the shortest step is
/// used.
///
/// @param states    2·joints × samples of the segment, `spacing` apart [s]
/// @param scales    JointUnits::scale of every joint
/// @param shortest  shortest step of the whole calibration [s]
std::vector<double> choose_local_integration_steps(const Segment& segment,
                                                   const Eigen::MatrixXd& states, double spacing,
                                                   const Eigen::VectorXd& scales,
                                                   const IntegrationStepLimits& limits,
                                                   double shortest);

/// Returns the entries of `choose_local_integration_steps` from the time `start` [s] on, for a part
/// of the segment that begins there.
std::vector<double> local_steps_from(const std::vector<double>& steps, double start);

/// Limits all integration steps of a grid to `longest` [s].
void limit_integration_steps(double longest, ShootingGrid& grid);

}  // namespace estimator
