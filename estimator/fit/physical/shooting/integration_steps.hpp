#pragma once

#include <Eigen/Core>
#include <vector>

#include "estimator/fit/physical/shooting/shooting_problem.hpp"
#include "estimator/signal/time_series.hpp"

namespace estimator {

/// Limits on the integration step with which a motion is simulated.
struct IntegrationStepLimits {
  double turn;      ///< largest rotation of a joint in one step [rad]
  double longest;   ///< longest step [s]
  double shortest;  ///< shortest step, for speeds in wrong units [s]
};

/// Default limits on the integration step. The simulation of a released Furuta pendulum is then
/// accurate to 1e-8 rad after 15 s, a hundredth of the resolution of readings.
inline constexpr IntegrationStepLimits kSteps{.turn = 0.04, .longest = 4e-3, .shortest = 1e-3};

/// Limits on the integration step in the last fit stages of mechanisms with loops. Where joints
/// reverse in singular configurations, the motion has higher frequencies than joint speeds suggest.
/// The simulation of a four-bar linkage is accurate to 2e-6 rad after 15 s with kSteps, and to 1e-8
/// rad with kLoopSteps.
inline constexpr IntegrationStepLimits kLoopSteps{.turn = 0.012, .longest = 1e-3, .shortest = 1e-4};

/// Chooses the integration step for a motion [s] from the speeds of the joints. Integration errors
/// grow with the fourth power of the rotation per step.
/// @param max_speed  largest speed of every joint; for prismatic joints in equivalent rad/s [rad/s]
double choose_integration_step(const Eigen::VectorXd& max_speed,
                               const IntegrationStepLimits& limits);

/// Chooses an integration step for every kStepPiece seconds of a segment [s]. Uses the shortest
/// step wherever controls change, because controls are averaged over a step.
/// @param states    2·joints × samples of the segment, `spacing` apart [s]
/// @param scales    JointUnits::scale of every joint
/// @param shortest  shortest step of the whole calibration [s]
std::vector<double> choose_local_integration_steps(const Segment& segment,
                                                   const Eigen::MatrixXd& states, double spacing,
                                                   const Eigen::VectorXd& scales,
                                                   const IntegrationStepLimits& limits,
                                                   double shortest);

/// Returns the local integration steps of a part of a segment that begins at the time `start` [s].
/// @param steps  local integration steps of the segment
std::vector<double> select_local_steps_after(const std::vector<double>& steps, double start);

/// Limits all integration steps of a shooting grid to `longest` [s].
void limit_integration_steps(double longest, ShootingGrid& grid);

}  // namespace estimator
