#include "estimator/signal/filtfilt.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace estimator {
namespace {

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

}  // namespace

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

}  // namespace estimator
