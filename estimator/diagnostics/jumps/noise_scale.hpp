#pragma once

#include <vector>

#include "estimator/diagnostics/jumps/reading_series.hpp"

namespace estimator {

/// Probability of at least one false alarm of a detector over all readings of a series.
inline constexpr double kFalseAlarm = 1e-4;

/// Says whether a series holds the motion of a joint or the residuals of a fitted model.
enum class SeriesKind { kMotion, kResidual };

/// Returns the magnitude that a standard normal variable exceeds with this probability.
double normal_quantile(double two_sided_probability);

/// Returns the median; reorders the values.
double median_of(std::vector<double>& values);

/// Returns the smallest unit of which all but a few changes between readings are whole multiples; 0
/// if there is none. Like `find_quantum`, but tolerates some false readings.
double robust_quantum(const std::vector<ReadingSeries>& series, double scale);

/// The noise and the acceleration of a series of readings. They limit how far a correct reading can
/// be from its neighbours.
class NoiseScale {
 public:
  /// @param quantum  quantization step of the readings; 0 if none
  NoiseScale(const ReadingSeries& series, double quantum);

  /// Returns the noise of the readings around a position, including quantization [rad or m]. Uses
  /// medians of fourth differences around the position and of the whole series, so that false
  /// readings do not change it.
  double noise(std::size_t position) const;
  double quantum() const { return quantum_; }

  /// Returns the largest sustained acceleration [rad/period²], from second differences with strides
  /// of up to `longest` readings. Longer strides reduce the effect of noise and quantization.
  /// Medians over time suppress false readings, steps and impacts.
  double acceleration(std::size_t longest) const;

  /// Returns the largest sustained acceleration for one stride [rad/period²].
  /// @param beyond_noise  return only the part that exceeds noise and quantization, or 0
  double sustained_acceleration(std::size_t stride, bool beyond_noise) const;

 private:
  static constexpr std::size_t kBlock = 64;  ///< readings over which noise is assumed constant

  const ReadingSeries& series_;
  double quantum_;
  double overall_ = 0.0;
  std::vector<double> local_;  ///< per block of kBlock readings
};

}  // namespace estimator
