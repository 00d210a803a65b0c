#pragma once

#include <Eigen/Core>
#include <vector>

#include "estimator/instant/instant_estimator.hpp"

namespace estimator {

/// How accelerations of joints wander between instants: their derivatives are white noise.
struct MotionModel {
  double period = 0.0;   ///< between instants [s], > 0
  Eigen::VectorXd jerk;  ///< square root of each joint's density [rad/s³/√Hz], > 0
};

/// An instant of a record as the filter saw it.
struct FilteredInstant {
  MotionPrior prior;  ///< by all instants before
  InstantEstimate estimate;
};

/// Of an instant by a whole record.
struct SmoothedInstant {
  Eigen::VectorXd motion;
  Eigen::MatrixXd covariance;
};

/// What an estimate says of the next instant.
MotionPrior predict(const InstantEstimate& estimate, const MotionModel& model);

/// Instants one after the other, each with all before it: the extended Kalman filter, iterated.
///
/// @param readings  axes × instants
/// @param prior     of the first instant
/// @param starts    of the first instant's iterations: where there are several, each is followed
/// for
///                  some instants, and the most probable goes on
std::vector<FilteredInstant> filter_motion(InstantEstimator& estimator,
                                           const Eigen::MatrixXd& readings,
                                           const MotionPrior& prior,
                                           const std::vector<Eigen::VectorXd>& starts,
                                           const MotionModel& model);

/// Every instant with all before and after it [Rau65], about the filter's
/// linearisations.
std::vector<SmoothedInstant> smooth_motion(const std::vector<FilteredInstant>& filtered,
                                           const MotionModel& model);

}  // namespace estimator
