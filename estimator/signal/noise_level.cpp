#include "estimator/signal/noise_level.hpp"

#include <algorithm>
#include <cmath>

namespace estimator {
namespace {

constexpr Eigen::Index kNoiseWindow = 5;  // observed samples of a fourth difference

/// Longest duration of a window, relative to the median. Over a gap, the motion is not a cubic.
constexpr double kLongestNoiseWindow = 1.2;

using WindowWeights = Eigen::Matrix<double, kNoiseWindow, 1>;

/// Returns the weights of a divided difference, which annihilate every cubic through five samples,
/// with norm 1. Equally spaced samples give the fourth difference (1, −4, 6, −4, 1)/√70.
WindowWeights difference_weights(const WindowWeights& times) {
  WindowWeights weights = WindowWeights::Ones();
  for (Eigen::Index i = 0; i < kNoiseWindow; ++i) {
    for (Eigen::Index j = 0; j < kNoiseWindow; ++j) {
      if (j != i) weights[i] /= times[i] - times[j];
    }
  }
  return weights.normalized();
}

/// Returns the noise level of the observed samples, from windows that do not span an encoder shift.
/// @param shifts  first sample after each shift
/// @param time    returns the time of a sample [sampling periods]
template <typename Time>
double level_of_windows(const Eigen::Ref<const Eigen::VectorXd>& samples,
                        const std::vector<Eigen::Index>& shifts, const Time& time) {
  std::vector<Eigen::Index> rows;
  for (Eigen::Index k = 0; k < samples.size(); ++k) {
    if (!std::isnan(samples[k])) rows.push_back(k);
  }
  const auto count = std::ssize(rows) - kNoiseWindow + 1;
  const auto row = [&](Eigen::Index k) { return rows[static_cast<std::size_t>(k)]; };
  const auto duration = [&](Eigen::Index k) {
    return time(row(k + kNoiseWindow - 1)) - time(row(k));
  };
  std::vector<double> durations;
  for (Eigen::Index k = 0; k < count; ++k) durations.push_back(duration(k));
  if (durations.empty()) return 0.0;
  const auto middle = durations.begin() + static_cast<std::ptrdiff_t>(durations.size() / 2);
  std::ranges::nth_element(durations, middle);
  const double longest = kLongestNoiseWindow * *middle;
  double sum = 0.0;
  int used = 0;
  for (Eigen::Index k = 0; k < count; ++k) {
    const Eigen::Index first = row(k), last = row(k + kNoiseWindow - 1);
    const auto is_within = [&](Eigen::Index shift) { return first < shift && shift <= last; };
    if (!(duration(k) <= longest) || std::ranges::any_of(shifts, is_within)) continue;
    WindowWeights times, window;
    for (Eigen::Index i = 0; i < kNoiseWindow; ++i) {
      times[i] = time(row(k + i));
      window[i] = samples[row(k + i)];
    }
    sum += std::pow(difference_weights(times).dot(window), 2);
    ++used;
  }
  return used == 0 ? 0.0 : std::sqrt(sum / used);
}

}  // namespace

double estimate_noise_level(const Eigen::Ref<const Eigen::VectorXd>& samples) {
  return level_of_windows(samples, {}, [](Eigen::Index k) { return static_cast<double>(k); });
}

double estimate_noise_level(const Segment& segment, Eigen::Index sensor) {
  std::vector<Eigen::Index> shifts;
  for (const EncoderShift& shift : segment.shifts) {
    if (shift.sensor == sensor) shifts.push_back(shift.sample);
  }
  return level_of_windows(segment.angles.col(sensor), shifts,
                          [&](Eigen::Index k) { return segment.time(k) / segment.period; });
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
