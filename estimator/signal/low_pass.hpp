#pragma once

#include <Eigen/Core>

namespace estimator {

/// Applies a second-order Butterworth low pass to every column, forward and backward: zero phase.
///
/// @param samples  samples × signals, NaN where not observed
/// @param cutoff   [Hz]; from 0.8 of the Nyquist frequency on, nothing is filtered
/// @param period   of the samples [s]
Eigen::MatrixXd low_pass(const Eigen::Ref<const Eigen::MatrixXd>& samples, double cutoff,
                         double period);

/// The same with a separate cutoff for each column: `cutoff`, or the largest of 2×, 4×, … it that
/// still removes less than half of what the next lower one removes. From white noise a filter
/// removes about the same at any cutoff, from a jump 0.7 times as much at twice the cutoff. From a
/// motion, whose spectrum falls steeply above its fastest component, it removes far less.
Eigen::MatrixXd low_pass_matched_to_noise(const Eigen::Ref<const Eigen::MatrixXd>& samples,
                                          double cutoff, double period);

}  // namespace estimator
