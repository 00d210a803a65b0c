#pragma once

#include <Eigen/Core>
#include <vector>

#include "tests/studies/motion_observer/instant_estimator.hpp"

namespace estimator {

/// Random-walk model of joint accelerations: their derivatives (jerk) are white noise.
struct MotionModel {
  double period = 0.0;   ///< between instants [s], > 0
  Eigen::VectorXd jerk;  ///< square root of each joint's spectral density [rad/s³/√Hz], > 0
};

/// Filter result at one instant.
struct FilteredInstant {
  MotionPrior prior;  ///< from all earlier instants
  InstantEstimate estimate;
};

/// Smoother result at one instant, from the whole recording.
struct SmoothedInstant {
  Eigen::VectorXd motion;
  Eigen::MatrixXd covariance;
};

/// Predicts the motion at the next instant.
MotionPrior predict(const InstantEstimate& estimate, const MotionModel& model);

/// Estimates instants in sequence, each from all readings up to it: iterated extended Kalman
/// filter.
///
/// @param readings  axes × instants
/// @param prior     of the first instant
/// @param starts    initial values of the first instant's iterations: of several, the one with the
///                  most probable motion over some instants is used
std::vector<FilteredInstant> filter_motion(MotionObserver& estimator,
                                           const Eigen::MatrixXd& readings,
                                           const MotionPrior& prior,
                                           const std::vector<Eigen::VectorXd>& starts,
                                           const MotionModel& model);

/// Estimates every instant from the whole recording [Rau65], with the filter's linearisations.
std::vector<SmoothedInstant> smooth_motion(const std::vector<FilteredInstant>& filtered,
                                           const MotionModel& model);

}  // namespace estimator
