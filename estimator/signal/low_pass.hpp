#pragma once

#include <Eigen/Core>

namespace estimator {

/// Every column by a second-order Butterworth low pass, forward and backward: no lag.
///
/// @param samples  samples × signals, NaN where not observed
/// @param cutoff   [Hz]; at 0.8 of the Nyquist frequency and above nothing is filtered
/// @param period   of the samples [s]
Eigen::MatrixXd low_pass(const Eigen::Ref<const Eigen::MatrixXd>& samples, double cutoff,
                         double period);

/// The same with a cutoff of every column's own: that of the arguments, or the largest double,
/// fourfold, … of it that takes out less than half of what half of it does. Of white noise a filter
/// takes about the same at any cutoff, of a jump 0.7 times as much at twice the cutoff; of a
/// motion, whose spectrum falls steeply above its fastest part, far less.
Eigen::MatrixXd low_pass_to_noise(const Eigen::Ref<const Eigen::MatrixXd>& samples, double cutoff,
                                  double period);

}  // namespace estimator
