#pragma once

#include <Eigen/Core>

namespace estimator {

/// Adds full turns to each sample so that it lies within half a turn of the last observed one.
///
/// Continuous angles that move less than half a turn between samples are unchanged. NaN means "not
/// observed" and stays NaN. The angle continues from the last sample before a gap, so a motion of
/// more than half a turn within a gap loses full turns.
///
/// @param angles n samples [rad]
/// @return n samples [rad], the first observed one unchanged
Eigen::VectorXd unwrap(const Eigen::Ref<const Eigen::VectorXd>& angles);

}  // namespace estimator
