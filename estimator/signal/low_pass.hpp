#pragma once

#include <Eigen/Core>
#include <vector>

namespace estimator {

/// One section of a digital filter, normalized to a0 = 1:
///
///   y_k = b0 x_k + b1 x_{k−1} + b2 x_{k−2} − a1 y_{k−1} − a2 y_{k−2}.
///
/// A first-order section has b2 = a2 = 0.
struct SecondOrderSection {
  double b0;
  double b1;
  double b2;
  double a1;
  double a2;
};

/// Cascade of sections, applied in order.
using SectionCascade = std::vector<SecondOrderSection>;

/// Designs a digital Butterworth low-pass filter: bilinear transform of the analogue prototype,
/// prewarped so that the gain at `cutoff` is exactly 1/√2. Every section has gain 1 at zero
/// frequency. With the frequency f and the period T, the magnitude is
///
///   |H(f)|² = 1 / (1 + (tan(π f T) / tan(π cutoff T))^(2 order)).
///
/// The cascade has ⌈order/2⌉ sections. For an odd order, the last section is of first order.
///
/// @param order  number of poles, ≥ 1
/// @param cutoff frequency of half power [Hz], 0 < cutoff < 1/(2 period)
/// @param period sampling period [s], > 0
/// @throws std::invalid_argument when a value is out of range
SectionCascade design_butterworth_low_pass(int order, double cutoff, double period);

/// Returns samples filtered forward and backward. The phase shift is zero, and the gain is the
/// square of the gain of one pass.
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

/// Returns the result of `filtfilt` for every column.
Eigen::MatrixXd filtfilt_columns(const SectionCascade& sections,
                                 const Eigen::Ref<const Eigen::MatrixXd>& samples);

/// Returns columns filtered forward and backward by a second-order Butterworth low pass, without
/// phase shift.
///
/// @param samples  samples × signals, NaN where not observed
/// @param cutoff   [Hz]; at or above 0.8 of the Nyquist frequency, samples are returned unchanged
/// @param period   sampling period [s]
Eigen::MatrixXd apply_low_pass(const Eigen::Ref<const Eigen::MatrixXd>& samples, double cutoff,
                               double period);

/// Returns the cutoff [Hz] of a low pass that removes little of a motion. Tests the cutoffs 2, 4,
/// 8, … times `cutoff`. Returns the highest cutoff whose filter removes less than half as much as
/// the filter with half this cutoff; `cutoff` if there is none. A filter with twice the cutoff
/// removes about as much white noise as before, and 0.7 times as much of a jump. It removes far
/// less of a motion, because the spectrum of a motion falls steeply above its fastest component.
double noise_matched_cutoff(const Eigen::Ref<const Eigen::VectorXd>& samples, double cutoff,
                            double period);

/// Returns columns filtered by apply_low_pass, each with its own noise_matched_cutoff.
Eigen::MatrixXd apply_noise_matched_low_pass(const Eigen::Ref<const Eigen::MatrixXd>& samples,
                                             double cutoff, double period);

}  // namespace estimator
