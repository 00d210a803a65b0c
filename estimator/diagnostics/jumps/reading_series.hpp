#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "estimator/model/joint_kind.hpp"
#include "estimator/signal/time_series.hpp"

namespace estimator {

/// The readings of one sensor over a segment, or their residuals. Contains no missing readings, and
/// is continuous over full turns.
struct ReadingSeries {
  std::vector<double> times;   ///< times since the segment's first row [s]
  std::vector<double> values;  ///< [rad or m]
  std::vector<int> rows;       ///< row of each reading in the segment
  double period = 0.0;         ///< sampling period of the sensor, a multiple of the segment's [s]

  std::size_t size() const { return values.size(); }
  /// Returns whether `count` readings from `first` on are dense enough to form one motion: at most
  /// every other reading is missing.
  bool is_dense(std::size_t first, std::size_t count) const {
    return times[first + count - 1] - times[first] <= 2.0 * static_cast<double>(count) * period;
  }
  /// Returns the position (index in the series) of the first reading that belongs to the given row
  /// of the segment or to a later row.
  std::size_t index_at_row(int row) const;
};

/// Returns the observed readings in a column of a segment, such as Segment::angles.col(sensor).
/// @param wraps  whether readings wrap after a full turn and are to be unwrapped (JointTraits)
ReadingSeries collect_observed_readings(const Segment& segment,
                                        const Eigen::Ref<const Eigen::VectorXd>& readings,
                                        bool wraps);

/// Probability that a detector raises at least one false alarm over all readings of a series.
inline constexpr double kFalseAlarm = 1e-4;

/// The content of a series of readings: the motion of a joint, or the residuals of a fitted model.
enum class SeriesKind { kMotion, kResidual };

/// Returns the magnitude that a standard normal variable exceeds with this probability.
double normal_quantile(double two_sided_probability);

/// Returns the median; reorders the values.
double compute_median(std::vector<double>& values);

/// Returns the quantization step that divides all but a few changes between readings; 0 if there is
/// none. Tolerates some false readings, unlike `find_quantization_step`.
double find_robust_quantization_step(const std::vector<ReadingSeries>& series, double scale);

/// The noise and the sustained acceleration of a series of readings, which limit how far a correct
/// reading can be from its neighbours.
class NoiseScale {
 public:
  /// @param quantum  quantization step of the readings; 0 if none
  NoiseScale(const ReadingSeries& series, double quantum);

  /// Returns the noise of the readings around a position, including quantization [rad or m]. Uses
  /// medians of fourth differences around the position and of the whole series, so that false
  /// readings do not change it.
  double noise(std::size_t position) const;
  double quantum() const { return quantum_; }

  /// Returns the largest sustained acceleration [rad/period²]: the smallest of the results of
  /// `sustained_acceleration`, for strides of up to `longest` readings, and of
  /// `acceleration_despite_runs`. Longer strides reduce the effect of noise and quantization; the
  /// longer medians of `acceleration_despite_runs` reduce the effect of runs of false readings.
  double sustained_acceleration_over_strides(std::size_t longest) const;

  /// Returns the largest sustained acceleration [rad/period²], from second differences of readings
  /// `stride` apart. Medians over time suppress false readings, steps and impacts.
  /// @param beyond_noise  return only the part that exceeds noise and quantization, or 0
  double sustained_acceleration(std::size_t stride, bool beyond_noise) const;

 private:
  /// Returns the largest sustained acceleration [rad/period²] from medians that a run of five false
  /// readings does not change. Infinite for a short series.
  double acceleration_despite_runs() const;
  /// Returns the largest of the given sustained accelerations. Ignores a few, which may be due to
  /// clustered false readings.
  static double largest_sustained(std::vector<double> lasting);

  static constexpr std::size_t kBlock = 64;  ///< readings over which noise is assumed constant

  const ReadingSeries& series_;
  double quantum_;
  double overall_ = 0.0;
  std::vector<double> local_;  ///< noise, one value per block of kBlock readings
};

/// The value of a fitted polynomial at one time, and bounds on its error. The value is a sum of the
/// readings with weights w.
struct PolynomialPrediction {
  double value = 0.0;
  double noise_gain = 0.0;  ///< √Σw², noise of `value` if the reading noise is 1
  double sum = 0.0;         ///< Σ|w|, largest error of `value` if reading errors are at most 1
  /// Largest error of `value` for accelerations of at most 1 per squared time unit: ∫|K(s)| ds with
  /// the Peano kernel K(s) = Σ w (t − s)₊ − (time − s)₊ of the prediction.
  double bend = 0.0;
};

/// A least-squares polynomial through some readings, evaluated at or near their end.
class PolynomialFit {
 public:
  static constexpr int kDegreeMax = 3;

  /// Fits `count` readings from index `first` on; `count` must exceed `degree`. The time unit of
  /// PolynomialPrediction::bend is the sampling period.
  PolynomialFit(const ReadingSeries& series, std::size_t first, std::size_t count, int degree);

  PolynomialPrediction at(double time) const;
  double value(double time) const;
  double slope(double time) const;
  /// Returns the residual variance; infinite without degrees of freedom.
  double residual_variance() const;

 private:
  /// Coefficients of powers of scaled time.
  using Coefficients = std::array<double, kDegreeMax + 1>;

  /// Maps the range of fitted times to −1 … 1.
  double scaled_time(double time) const { return (time - origin_) * scale_; }
  template <typename Function>
  void call_with_size(const Function& function) const;
  template <std::size_t kSize>
  void fit();
  template <std::size_t kSize>
  static double evaluate_polynomial(const Coefficients& coefficients, double u);
  void invert_normal_matrix();

  std::span<const double> times_, values_;
  std::size_t size_;  ///< number of coefficients
  double origin_, scale_, unit_;
  Coefficients coefficients_{};
  std::array<Coefficients, kDegreeMax + 1> inverse_{};  ///< inverse of the normal matrix
};

}  // namespace estimator
