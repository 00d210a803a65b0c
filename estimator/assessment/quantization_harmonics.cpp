#include "estimator/assessment/quantization_harmonics.hpp"

#include <algorithm>
#include <cmath>

namespace estimator {
namespace {

constexpr Eigen::Index kChunk = 256;  // number of readings summed at once

/// Returns the amplitude of harmonic k of the rounding error, whose Fourier series is Σ_k
/// ±sin(2πkx)/πk in quantization steps q. Noise of variance σ² before quantization attenuates it by
/// exp(−½ (2πk/q)² σ²).
double amplitude(int k, const QuantizedSensor& sensor, double unit) {
  const double wave = 2.0 * M_PI * k / sensor.quantum;
  return unit * sensor.quantum / (M_PI * k) *
         std::exp(-0.5 * wave * wave * sensor.pre_quantization_variance);
}

}  // namespace

Harmonics sum_harmonics(const Eigen::MatrixXd& rows, const Eigen::VectorXd& angles, int count,
                        const QuantizedSensor& sensor, double unit) {
  Harmonics sums = Harmonics::Zero(rows.cols(), 2 * count);
  Eigen::MatrixXd waves(kChunk, 2 * count);
  for (Eigen::Index begin = 0; begin < angles.size(); begin += kChunk) {
    const Eigen::Index size = std::min(kChunk, angles.size() - begin);
    const Eigen::ArrayXd phase = 2.0 * M_PI / sensor.quantum * angles.segment(begin, size).array();
    const Eigen::ArrayXd cosine = phase.cos(), sine = phase.sin();
    waves.col(0).head(size) = cosine;
    waves.col(1).head(size) = sine;
    for (Eigen::Index k = 2; k < 2 * count; k += 2) {
      const auto re = waves.col(k - 2).head(size).array();
      const auto im = waves.col(k - 1).head(size).array();
      waves.col(k).head(size) = re * cosine - im * sine;
      waves.col(k + 1).head(size) = re * sine + im * cosine;
    }
    sums.noalias() += rows.middleRows(begin, size).transpose() * waves.topRows(size);
  }
  for (int k = 1; k <= count; ++k) sums.middleCols(2 * k - 2, 2) *= amplitude(k, sensor, unit);
  return sums;
}

double white_variance(const QuantizedSensor& sensor, double unit, int count) {
  double variance =
      unit * unit * (sensor.quantum * sensor.quantum / 12.0 + sensor.pre_quantization_variance);
  for (int k = 1; k <= count; ++k) variance -= 0.5 * std::pow(amplitude(k, sensor, unit), 2);
  return variance;
}

Eigen::MatrixXd quantization_scatter(const Eigen::MatrixXd& rows, const Eigen::VectorXd& angles,
                                     int count, const QuantizedSensor& sensor, double unit) {
  const Harmonics harmonics = sum_harmonics(rows, angles, count, sensor, unit);
  return 0.5 * harmonics * harmonics.transpose() +
         white_variance(sensor, unit, count) * rows.transpose() * rows;
}

}  // namespace estimator
