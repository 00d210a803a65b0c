#pragma once

#include <Eigen/Core>

#include "estimator/signal/butterworth.hpp"

namespace estimator {

/// Filters forward and backward: no lag, and the squared magnitude of one pass.
///
/// Each pass starts in the state the filter has settled to on a constant equal to its first
/// sample, and both ends are first extended by odd reflection, 2 x_0 − x_k, so that neither an
/// offset nor a slope at an end rings. This is SciPy's `sosfiltfilt` with its default padding of
/// 3 (number of poles + 1) samples.
///
/// NaN means "not observed". Every stretch between NaNs is filtered as a signal of its own, with
/// its own padding; NaNs stay NaN and no sample is invented, so samples on either side of a gap
/// never see each other. A stretch shorter than the padding is reflected as far as it reaches
/// (its length less one); a single sample is returned as it is.
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
