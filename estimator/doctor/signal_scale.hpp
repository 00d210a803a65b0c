#pragma once

#include <vector>

#include "estimator/doctor/reading_series.hpp"

namespace estimator {

/// Chance that readings without any fault make one detector say there is one, over all readings of
/// a series together.
inline constexpr double kFalseAlarm = 1e-4;

/// What a series is of: a moving joint, or what a fitted model leaves of its readings.
enum class SeriesKind { kMotion, kResidual };

/// |z| that a standard normal variable exceeds with this chance.
double normal_bound(double two_sided_probability);

/// The number that half of the values lie below; they are reordered.
double median_of(std::vector<double>& values);

/// Smallest unit of which all but a few changes between readings are whole multiples; 0: none.
/// `find_quantum` for readings among which some are false.
double robust_quantum(const std::vector<ReadingSeries>& series, double scale);

/// What an honest reading of a series may differ by from what its neighbours say.
class SignalScale {
 public:
  /// @param quantum  of the readings; 0: none
  SignalScale(const ReadingSeries& series, double quantum);

  /// Of the readings about one of them, with that of counting [rad or m]: by the medians of fourth
  /// differences there and of the whole series, of which false readings move neither.
  double noise(std::size_t position) const;
  double quantum() const { return quantum_; }

  /// Largest acceleration of a motion that lasts [rad/period²]: second differences over up to
  /// `longest` readings, the longer the less noise and counting add. Medians in time, so that false
  /// readings, steps and blows count for nothing.
  double acceleration(std::size_t longest) const;

  /// The same over one stride.
  /// @param beyond_noise  what exceeds the work of noise and counting alone: 0 where there is none
  double lasting_acceleration(std::size_t stride, bool beyond_noise) const;

 private:
  static constexpr std::size_t kBlock = 64;  ///< readings over which noise is taken to be alike

  const ReadingSeries& series_;
  double quantum_;
  double overall_ = 0.0;
  std::vector<double> local_;  ///< of each kBlock readings
};

}  // namespace estimator
