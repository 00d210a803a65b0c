#include "estimator/signal/noise_level.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace estimator {

double estimate_noise_level(const Eigen::Ref<const Eigen::VectorXd>& samples) {
  double sum = 0.0;
  int count = 0;
  for (Eigen::Index k = 4; k < samples.size(); ++k) {
    const double difference = samples[k] - 4.0 * samples[k - 1] + 6.0 * samples[k - 2] -
                              4.0 * samples[k - 3] + samples[k - 4];
    if (std::isnan(difference)) continue;
    sum += difference * difference;
    ++count;
  }
  return count == 0 ? 0.0 : std::sqrt(sum / (70.0 * count));  // 1 + 16 + 36 + 16 + 1
}

double estimate_noise_level(const Segment& segment, Eigen::Index sensor) {
  Eigen::VectorXd samples = segment.angles.col(sensor);
  // Differences across an encoder shift contain the shift.
  for (const EncoderShift& shift : segment.shifts) {
    if (shift.sensor == sensor) samples[shift.sample] = std::numeric_limits<double>::quiet_NaN();
  }
  if (segment.times.empty()) return estimate_noise_level(samples);
  double sum = 0.0;
  int count = 0;
  for (Eigen::Index first = 0; first + 5 <= samples.size(); ++first) {
    // Divided differences: weights that annihilate every cubic through five samples.
    Eigen::Matrix<double, 5, 1> weights = Eigen::Matrix<double, 5, 1>::Ones();
    for (Eigen::Index i = 0; i < 5; ++i) {
      for (Eigen::Index j = 0; j < 5; ++j) {
        if (j != i)
          weights[i] *= segment.period / (segment.time(first + i) - segment.time(first + j));
      }
    }
    const double difference = weights.normalized().dot(samples.segment<5>(first));
    if (std::isnan(difference)) continue;
    sum += difference * difference;
    ++count;
  }
  return count == 0 ? 0.0 : std::sqrt(sum / count);
}

double estimate_noise_level(const std::vector<Segment>& segments, Eigen::Index sensor) {
  double noise = 0.0;
  for (const Segment& segment : segments)
    noise = std::max(noise, estimate_noise_level(segment, sensor));
  return noise;
}

double angle_noise_level(const std::vector<Recording>& recordings) {
  double noise = kReadingNoiseFloor;
  for (const Recording& recording : recordings) {
    if (recording.segments.empty()) continue;
    for (Eigen::Index i = 0; i < recording.segments.front().angles.cols(); ++i) {
      noise = std::max(noise, estimate_noise_level(recording.segments, i));
    }
  }
  return noise;
}

}  // namespace estimator
