#pragma once

#include <vector>

#include "estimator/diagnostics/reading_series.hpp"

namespace estimator {

/// False-alarm probability of one detector over all readings of a series together.
inline constexpr double kFalseAlarm = 1e-4;

/// Content of a series: the motion of a joint, or the residuals of a fitted model.
enum class SeriesKind { kMotion, kResidual };

/// |z| that a standard normal variable exceeds with this probability.
double normal_quantile(double two_sided_probability);

/// Median; reorders the values.
double median_of(std::vector<double>& values);

/// Smallest unit of which all but a few changes between readings are whole multiples; 0: none. A
/// `find_quantum` that tolerates some false readings.
double robust_quantum(const std::vector<ReadingSeries>& series, double scale);

/// Noise and acceleration of a series, which limit a correct reading's distance from its
/// neighbours.
class NoiseScale {
 public:
  /// @param quantum  quantization step of the readings; 0: none
  NoiseScale(const ReadingSeries& series, double quantum);

  /// Noise of the readings around a position, including quantization [rad or m]. From the medians
  /// of fourth differences there and of the whole series, so that false readings do not change it.
  double noise(std::size_t position) const;
  double quantum() const { return quantum_; }

  /// Largest sustained acceleration [rad/period²], from second differences over up to `longest`
  /// readings; noise and quantization contribute less the longer they are. Medians over time
  /// suppress false readings, steps and impacts.
  double acceleration(std::size_t longest) const;

  /// The same for one stride.
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
