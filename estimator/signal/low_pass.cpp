#include "estimator/signal/low_pass.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numbers>
#include <stdexcept>
#include <string>

namespace estimator {
namespace {

// Bilinear transform of 1/(s² + 2 sin(φ) s + 1) at s = (1 − z⁻¹)/(K (1 + z⁻¹)).
SecondOrderSection second_order_section(double K, double phi) {
  const double damping = 2.0 * std::sin(phi) * K;
  const double scale = 1.0 / (1.0 + damping + K * K);
  const double b0 = K * K * scale;
  return {b0, 2.0 * b0, b0, 2.0 * (K * K - 1.0) * scale, (1.0 - damping + K * K) * scale};
}

// Bilinear transform of 1/(s + 1).
SecondOrderSection first_order_section(double K) {
  const double b0 = K / (1.0 + K);
  return {b0, b0, 0.0, (K - 1.0) / (K + 1.0), 0.0};
}

int pole_count(const SectionCascade& sections) {
  int poles = 0;
  for (const SecondOrderSection& s : sections) poles += s.a2 == 0.0 && s.b2 == 0.0 ? 1 : 2;
  return poles;
}

// Runs the cascade over the samples in place (transposed direct form II), starting from the
// steady state of a constant input equal to the first sample.
void filter_from_steady_state(const SectionCascade& sections, Eigen::VectorXd& samples) {
  double level = samples[0];
  for (const SecondOrderSection& s : sections) {
    const double gain = (s.b0 + s.b1 + s.b2) / (1.0 + s.a1 + s.a2);  // at zero frequency
    double z1 = (gain - s.b0) * level;
    double z2 = (s.b2 - s.a2 * gain) * level;
    for (double& sample : samples) {
      const double x = sample;
      const double y = s.b0 * x + z1;
      z1 = s.b1 * x - s.a1 * y + z2;
      z2 = s.b2 * x - s.a2 * y;
      sample = y;
    }
    level *= gain;
  }
}

// Filters one run of samples without NaN.
Eigen::VectorXd filtfilt_stretch(const SectionCascade& sections,
                                 const Eigen::Ref<const Eigen::VectorXd>& x) {
  const Eigen::Index n = x.size();
  const Eigen::Index padding = std::min<Eigen::Index>(3 * (pole_count(sections) + 1), n - 1);
  Eigen::VectorXd extended(n + 2 * padding);
  extended.segment(padding, n) = x;
  for (Eigen::Index k = 1; k <= padding; ++k) {
    extended[padding - k] = 2.0 * x[0] - x[k];
    extended[padding + n - 1 + k] = 2.0 * x[n - 1] - x[n - 1 - k];
  }
  filter_from_steady_state(sections, extended);
  extended.reverseInPlace();
  filter_from_steady_state(sections, extended);
  extended.reverseInPlace();
  return extended.segment(padding, n);
}

constexpr int kFilterOrder = 2;
constexpr double kNyquistShare = 0.8;  // of the Nyquist frequency; above it nothing is filtered
constexpr double kNoiseShare = 0.5;    // of the amplitude removed at half the cutoff

bool filters(double cutoff, double period) { return cutoff < kNyquistShare * 0.5 / period; }

/// Sum of squares of observed samples.
double squares(const Eigen::Ref<const Eigen::VectorXd>& signal) {
  return signal.array().isNaN().select(0.0, signal.array()).square().sum();
}

}  // namespace

SectionCascade design_butterworth_low_pass(int order, double cutoff, double period) {
  if (order < 1) throw std::invalid_argument("Butterworth filter: the order must be at least 1");
  if (!(period > 0.0)) throw std::invalid_argument("Butterworth filter: the period must be > 0");
  if (!(cutoff > 0.0) || !(2.0 * cutoff * period < 1.0)) {
    throw std::invalid_argument(
        "Butterworth filter: the cutoff must lie between zero and half the sampling rate. "
        "The cutoff is " +
        std::to_string(cutoff) + " Hz, the sampling rate " + std::to_string(1.0 / period) + " Hz");
  }
  const double K = std::tan(std::numbers::pi * cutoff * period);  // prewarped frequency [-]
  SectionCascade sections;
  for (int k = 0; k < order / 2; ++k) {
    // Poles at angle π/2 + φ of the left half circle; the pair with φ near zero has the highest Q.
    sections.push_back(second_order_section(K, std::numbers::pi * (2 * k + 1) / (2.0 * order)));
  }
  if (order % 2 == 1) sections.push_back(first_order_section(K));
  return sections;
}

Eigen::VectorXd filtfilt(const SectionCascade& sections,
                         const Eigen::Ref<const Eigen::VectorXd>& samples) {
  assert(!sections.empty());
  Eigen::VectorXd filtered = samples;
  const Eigen::Index n = samples.size();
  for (Eigen::Index begin = 0; begin < n;) {
    if (std::isnan(samples[begin])) {
      ++begin;
      continue;
    }
    Eigen::Index end = begin;
    while (end < n && !std::isnan(samples[end])) ++end;
    const Eigen::Index length = end - begin;
    if (length > 1) {
      filtered.segment(begin, length) = filtfilt_stretch(sections, samples.segment(begin, length));
    }
    begin = end;
  }
  return filtered;
}

Eigen::MatrixXd filtfilt_columns(const SectionCascade& sections,
                                 const Eigen::Ref<const Eigen::MatrixXd>& samples) {
  Eigen::MatrixXd filtered(samples.rows(), samples.cols());
  for (Eigen::Index j = 0; j < samples.cols(); ++j) {
    filtered.col(j) = filtfilt(sections, samples.col(j));
  }
  return filtered;
}

Eigen::MatrixXd apply_low_pass(const Eigen::Ref<const Eigen::MatrixXd>& samples, double cutoff,
                               double period) {
  if (!filters(cutoff, period)) return samples;
  return filtfilt_columns(design_butterworth_low_pass(kFilterOrder, cutoff, period), samples);
}

double noise_matched_cutoff(const Eigen::Ref<const Eigen::VectorXd>& samples, double cutoff,
                            double period) {
  const auto removed = [&](double at) {
    return squares(samples - apply_low_pass(samples, at, period).col(0));
  };
  double matched = cutoff, taken = removed(cutoff);
  for (double next = 2.0 * cutoff; filters(next, period); next *= 2.0) {
    const double left = removed(next);
    if (left < kNoiseShare * kNoiseShare * taken) matched = next;
    taken = left;
  }
  return matched;
}

Eigen::MatrixXd apply_noise_matched_low_pass(const Eigen::Ref<const Eigen::MatrixXd>& samples,
                                             double cutoff, double period) {
  Eigen::MatrixXd filtered(samples.rows(), samples.cols());
  for (Eigen::Index i = 0; i < samples.cols(); ++i) {
    const double matched = noise_matched_cutoff(samples.col(i), cutoff, period);
    filtered.col(i) = apply_low_pass(samples.col(i), matched, period);
  }
  return filtered;
}

}  // namespace estimator
