#pragma once

#include <Eigen/Core>

namespace estimator {

/// Adds whole turns to each sample so that it lies within half a turn of the last observed one.
///
/// Angles that are already continuous and move less than half a turn between samples come back
/// unchanged. NaN means "not observed": it stays NaN, and the angle continues from the last sample
/// before it, so a gap in which the joint moves more than half a turn loses whole turns.
///
/// @param angles n samples [rad]
/// @return n samples [rad], the first observed one unchanged
Eigen::VectorXd unwrap(const Eigen::Ref<const Eigen::VectorXd>& angles);

}  // namespace estimator
