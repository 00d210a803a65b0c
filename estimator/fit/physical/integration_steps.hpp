#pragma once

#include <Eigen/Core>
#include <vector>

#include "estimator/fit/physical/shooting_problem.hpp"
#include "estimator/signal/time_series.hpp"

namespace estimator {

/// Limits on integration steps.
struct StepLimits {
  double turn;      ///< rotation of a joint in a step [rad]
  double longest;   ///< [s]
  double shortest;  ///< lower limit if speeds have wrong units [s]
};

/// With these limits a Furuta release is accurate to 1e-8 rad after 15 s, a hundredth of the
/// readings' resolution.
inline constexpr StepLimits kSteps{.turn = 0.04, .longest = 4e-3, .shortest = 1e-3};

/// For the last stages with loops, whose joints reverse in singular configurations. There the
/// motion has higher frequencies than the joint speeds suggest. A four-bar linkage is accurate to
/// 2e-6 rad after 15 s with kSteps, and to 1e-8 with these.
inline constexpr StepLimits kLoopSteps{.turn = 0.012, .longest = 1e-3, .shortest = 1e-4};

/// Integration step for a motion [s]. Errors grow with the fourth power of the rotation per step.
///
/// @param fastest  largest speed of every joint, in equivalent radians for prismatic ones [rad/s]
double choose_step(const Eigen::VectorXd& max_speed, const StepLimits& limits);

/// Integration step for every kStepPiece of a segment. Where controls change, their approximation
/// within a step has a lower order than the integration, so the shortest step is used.
///
/// @param states    2·joints × samples of the segment, `spacing` apart [s]
/// @param scales    of every joint's coordinate, JointUnits::scale
/// @param shortest  of the whole calibration [s]
std::vector<double> choose_local_steps(const Segment& segment, const Eigen::MatrixXd& states,
                                       double spacing, const Eigen::VectorXd& scales,
                                       const StepLimits& limits, double shortest);

/// The part of such steps from `start` [s] on, for a window of their segment that begins there.
std::vector<double> steps_from(const std::vector<double>& steps, double start);

/// Limits all steps to `longest` [s].
void limit_steps(double longest, ShootingGrid& grid);

}  // namespace estimator
