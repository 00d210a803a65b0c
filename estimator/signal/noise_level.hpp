#pragma once

#include <Eigen/Core>
#include <vector>

#include "estimator/signal/time_series.hpp"

namespace estimator {

/// Lower limit of the noise level of encoders, so that a signal without noise has a finite weight
/// [rad].
inline constexpr double kReadingNoiseFloor = 1e-5;

/// Returns the standard deviation of the white noise in a signal, estimated from fourth divided
/// differences of successive observed samples (NaN: not observed). A well-sampled motion
/// contributes little to these differences. Differences across longer gaps than usual are not used.
/// Returns zero for fewer than 5 observed samples.
double estimate_noise_level(const Eigen::Ref<const Eigen::VectorXd>& samples);

/// Returns the noise level of a sensor's readings in a segment, at the times of its rows and from
/// differences that do not span encoder shifts.
double estimate_noise_level(const Segment& segment, Eigen::Index sensor);

/// Returns the largest noise level of a sensor in any segment; zero without segments.
double estimate_noise_level(const std::vector<Segment>& segments, Eigen::Index sensor);

/// Returns the largest noise level of any encoder in any segment, at least kReadingNoiseFloor.
double angle_noise_level(const std::vector<Recording>& recordings);

}  // namespace estimator
