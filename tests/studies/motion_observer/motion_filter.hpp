#pragma once

#include <Eigen/Core>
#include <vector>

#include "tests/studies/motion_observer/instant_estimator.hpp"

namespace estimator {

/// Random-walk model of the joint accelerations, whose derivatives (jerks) are white noise.
struct MotionModel {
  double period = 0.0;   ///< time between instants [s], > 0
  Eigen::VectorXd jerk;  ///< square root of each joint's spectral density [rad/s³/√Hz], > 0
};

/// Result of the filter at one instant.
struct FilteredInstant {
  MotionPrior prior;  ///< predicted from all earlier instants
  InstantEstimate estimate;
};

/// Result of the smoother at one instant, from the readings of the whole recording.
struct SmoothedInstant {
  Eigen::VectorXd motion;
  Eigen::MatrixXd covariance;
};

/// Predicts the motion at the next instant from the estimate at the present one.
MotionPrior predict(const InstantEstimate& estimate, const MotionModel& model);

/// Estimates the motion at each instant from all readings up to it by an iterated extended Kalman
/// filter.
///
/// @param readings  axes × instants
/// @param prior     prior of the motion at the first instant
/// @param starts    initial motions of the first instant's iterations; of several, the filter uses
/// the one that gives the most probable motion over some instants
std::vector<FilteredInstant> filter_motion(MotionObserver& estimator,
                                           const Eigen::MatrixXd& readings,
                                           const MotionPrior& prior,
                                           const std::vector<Eigen::VectorXd>& starts,
                                           const MotionModel& model);

/// Estimates the motion at each instant from the whole recording [Rau65]. Uses the linearisations
/// of the filter.
std::vector<SmoothedInstant> smooth_motion(const std::vector<FilteredInstant>& filtered,
                                           const MotionModel& model);

}  // namespace estimator
