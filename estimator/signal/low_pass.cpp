#include "estimator/signal/low_pass.hpp"

#include "estimator/signal/butterworth.hpp"
#include "estimator/signal/filtfilt.hpp"

namespace estimator {
namespace {

constexpr int kFilterOrder = 2;
constexpr double kNyquistShare = 0.8;  // of the Nyquist frequency; above it nothing is filtered
constexpr double kNoiseShare = 0.5;    // of the amplitude removed at half the cutoff

bool filters(double cutoff, double period) { return cutoff < kNyquistShare * 0.5 / period; }

/// Sum of squares of observed samples.
double squares(const Eigen::Ref<const Eigen::VectorXd>& signal) {
  return signal.array().isNaN().select(0.0, signal.array()).square().sum();
}

}  // namespace

Eigen::MatrixXd low_pass(const Eigen::Ref<const Eigen::MatrixXd>& samples, double cutoff,
                         double period) {
  if (!filters(cutoff, period)) return samples;
  return filtfilt_columns(butterworth_low_pass(kFilterOrder, cutoff, period), samples);
}

Eigen::MatrixXd low_pass_matched_to_noise(const Eigen::Ref<const Eigen::MatrixXd>& samples,
                                          double cutoff, double period) {
  Eigen::MatrixXd filtered = low_pass(samples, cutoff, period);
  for (Eigen::Index i = 0; i < samples.cols(); ++i) {
    double taken = squares(samples.col(i) - filtered.col(i));
    for (double next = 2.0 * cutoff; filters(next, period); next *= 2.0) {
      const Eigen::MatrixXd nearer = low_pass(samples.col(i), next, period);
      const double left = squares(samples.col(i) - nearer.col(0));
      if (left < kNoiseShare * kNoiseShare * taken) filtered.col(i) = nearer.col(0);
      taken = left;
    }
  }
  return filtered;
}

}  // namespace estimator
