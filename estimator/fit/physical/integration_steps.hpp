#pragma once

#include <Eigen/Core>
#include <vector>

#include "estimator/fit/physical/shooting_problem.hpp"
#include "estimator/signal/time_series.hpp"

namespace estimator {

/// What integration steps are held to.
struct StepLimits {
  double turn;      ///< of a joint in a step [rad]
  double longest;   ///< [s]
  double shortest;  ///< that speeds in wrong units can ask for [s]
};

/// A Furuta release is within 1e-8 rad after 15 s, a hundredth of what its readings can resolve.
inline constexpr StepLimits kSteps{.turn = 0.04, .longest = 4e-3, .shortest = 1e-3};

/// Of the last stages for loops, whose joints turn back where links lie in one line: there the
/// motion is of higher frequency than joints are fast. With kSteps a four-bar is within 2e-6 rad
/// after 15 s, with these within 1e-8.
inline constexpr StepLimits kLoopSteps{.turn = 0.012, .longest = 1e-3, .shortest = 1e-4};

/// Integration step for a motion [s]. Errors grow with the fourth power of the turn in a step.
///
/// @param fastest  speed of every joint, of a slide in turns as large [rad/s]
double choose_step(const Eigen::VectorXd& fastest, const StepLimits& limits);

/// The same for every kStepPiece of a segment. Where controls change, what stands for them in a
/// step is of a lower order than the integration: there the step stays the shortest.
///
/// @param states    2·joints × samples of the segment, `spacing` apart [s]
/// @param scales    of every joint's coordinate, JointUnits::scale
/// @param shortest  of the whole calibration [s]
std::vector<double> choose_local_steps(const Segment& segment, const Eigen::MatrixXd& states,
                                       double spacing, const Eigen::VectorXd& scales,
                                       const StepLimits& limits, double shortest);

/// Such steps from `start` [s] on: of a window of their segment that begins there.
std::vector<double> steps_from(const std::vector<double>& steps, double start);

/// Shortens all steps to at most `longest` [s].
void limit_steps(double longest, ShootingGrid& grid);

}  // namespace estimator
