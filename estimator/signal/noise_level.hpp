#pragma once

#include <Eigen/Core>
#include <vector>

#include "estimator/signal/time_series.hpp"

namespace estimator {

/// Lower limit of the noise level, so that a perfect signal has a finite weight [rad].
inline constexpr double kReadingNoiseFloor = 1e-5;

/// Standard deviation of the white part of a signal, from fourth differences. A well-sampled motion
/// contributes little to these. Zero for fewer than 5 consecutive observed samples.
double estimate_noise_level(const Eigen::Ref<const Eigen::VectorXd>& samples);

/// The same for a sensor's readings between its count errors (shifts), by divided differences if
/// the sampling is irregular.
double estimate_noise_level(const Segment& segment, Eigen::Index sensor);

/// The largest noise level of a sensor in any segment; zero without segments.
double estimate_noise_level(const std::vector<Segment>& segments, Eigen::Index sensor);

/// The largest noise level of the angles of any segment, at least kReadingNoiseFloor.
double angle_noise_level(const std::vector<Recording>& recordings);

}  // namespace estimator
