#pragma once

#include <Eigen/Core>

#include "estimator/signal/butterworth.hpp"

namespace estimator {

/// Filters forward and backward: zero phase, and the squared magnitude of one pass.
///
/// Each pass starts in the steady state for a constant equal to its first sample. Both ends are
/// first extended by odd reflection, 2 x_0 − x_k, so that neither an offset nor a slope at an end
/// causes ringing. This is SciPy's `sosfiltfilt` with its default padding, 3 (poles + 1) samples.
///
/// NaN means "not observed". Every run of samples between NaNs is filtered separately, with its own
/// padding. NaNs stay NaN, so samples on different sides of a gap do not affect each other. A run
/// shorter than the padding is reflected over its length minus one; a single sample is unchanged.
///
/// @param sections a stable low-pass cascade
/// @param samples  n samples, NaN where not observed
/// @return n samples
Eigen::VectorXd filtfilt(const SectionCascade& sections,
                         const Eigen::Ref<const Eigen::VectorXd>& samples);

/// `filtfilt` of every column.
Eigen::MatrixXd filtfilt_columns(const SectionCascade& sections,
                                 const Eigen::Ref<const Eigen::MatrixXd>& samples);

}  // namespace estimator
