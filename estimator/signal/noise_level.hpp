#pragma once

#include <Eigen/Core>
#include <vector>

#include "estimator/signal/time_series.hpp"

namespace estimator {

/// A perfect signal still gets a finite weight [rad].
inline constexpr double kReadingNoiseFloor = 1e-5;

/// Standard deviation of the white part of a signal, from fourth differences; other signals than
/// noise leave little there when well sampled. Zero for fewer than 5 observed samples in a row.
double noise_level(const Eigen::Ref<const Eigen::VectorXd>& samples);

/// The same of what a sensor reads between its slips, by divided differences where samples are
/// irregular.
double noise_level(const Segment& segment, Eigen::Index sensor);

/// The largest noise level of the angles of any segment, at least kReadingNoiseFloor.
double angle_noise_level(const std::vector<Recording>& recordings);

}  // namespace estimator
