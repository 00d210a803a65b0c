#pragma once

#include <Eigen/Core>
#include <vector>

#include "estimator/fit/physical/shooting_problem.hpp"
#include "estimator/signal/time_series.hpp"

namespace estimator {

/// Integration step for a motion [s]. Errors grow with the fourth power of the turn in a step; with
/// what is chosen a Furuta release is within 1e-8 rad after 15 s, a hundredth of what its readings
/// can resolve.
///
/// @param fastest  speed of every joint, of a slide in turns as large [rad/s]
double choose_step(const Eigen::VectorXd& fastest);

/// The same for every kStepPiece of a segment. Where controls change, what stands for them in a
/// step is of a lower order than the integration: there the step stays the shortest.
///
/// @param states    2·joints × samples of the segment, `spacing` apart [s]
/// @param scales    of every joint's coordinate, JointUnits::scale
/// @param shortest  of the whole calibration [s]
std::vector<double> choose_local_steps(const Segment& segment, const Eigen::MatrixXd& states,
                                       double spacing, const Eigen::VectorXd& scales,
                                       double shortest);

/// Shortens all steps to at most `longest` [s].
void limit_steps(double longest, ShootingGrid& grid);

}  // namespace estimator
