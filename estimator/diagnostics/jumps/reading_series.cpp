#include "estimator/diagnostics/jumps/reading_series.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>

namespace estimator {
namespace {

constexpr double kDeviationsPerMedian = 1.4826;  // ratio of σ to the median of |x|, normal x
constexpr double kFourthGain = 8.366600265;      // √70 = √(1 + 16 + 36 + 16 + 1)
constexpr double kGolden = 0.6180339887498949;   // multiples of 1/golden ratio fill [0, 1] evenly
constexpr double kSecondGain = 2.449489743;      // √6
constexpr double kFinestQuantum = 1e-7;          // [rad]; finer are decimals of a text file
constexpr double kQuantumTolerance = 0.02;
constexpr double kWholeShare = 0.95;  // of the changes; false readings make two each

/// The largest medians, one in this many, are skipped, since clustered false readings can form the
/// majority of the seven values of a median.
constexpr std::size_t kCrowds = 200;

/// Upper bound on the median of seven normal magnitudes among millions [standard deviations].
constexpr double kLargestMedian = 3.0;

/// Returns the median of seven values by a sorting network.
double median_of_seven(std::array<double, 7> x) {
  constexpr std::pair<std::size_t, std::size_t> kOrder[] = {{0, 5}, {0, 3}, {1, 6}, {2, 4}, {0, 1},
                                                            {3, 5}, {2, 6}, {2, 3}, {3, 6}, {4, 5},
                                                            {1, 4}, {1, 3}, {3, 4}};
  for (const auto& [i, j] : kOrder) {
    const double less = std::min(x[i], x[j]);
    x[j] = std::max(x[i], x[j]);
    x[i] = less;
  }
  return x[3];
}

/// Integral of the magnitude of a Peano kernel, the sum of w (t − s)₊ over its knots. The kernel is
/// linear between the knots, and zero beyond them.
class PeanoKernel {
 public:
  /// Adds a knot; call in the order of falling times.
  void add(double time, double weight) {
    const double width = last_ - time, value = moment_ - sum_ * time;
    if (kernel_ * value >= 0.0) {
      integral_ += 0.5 * width * std::abs(kernel_ + value);
    } else {
      integral_ += 0.5 * width * (kernel_ * kernel_ + value * value) / std::abs(kernel_ - value);
    }
    last_ = time;
    kernel_ = value;
    sum_ += weight;
    moment_ += weight * time;
  }
  double integral() const { return integral_; }

 private:
  double integral_ = 0.0, last_ = 0.0, kernel_ = 0.0;  // at the last knot
  double sum_ = 0.0, moment_ = 0.0;                    // Σ w, Σ w t
};

}  // namespace

std::size_t ReadingSeries::index_at_row(int row) const {
  return static_cast<std::size_t>(std::ranges::lower_bound(rows, row) - rows.begin());
}

ReadingSeries collect_observed_readings(const Segment& segment,
                                        const Eigen::Ref<const Eigen::VectorXd>& readings,
                                        bool wraps) {
  ReadingSeries series;
  series.period = segment.period;
  for (Eigen::Index k = 0; k < readings.size(); ++k) {
    if (std::isnan(readings[k])) continue;
    // A reading that jumps by a full turn is the same angle.
    double value = readings[k];
    if (!series.values.empty()) {
      const double change = value - series.values.back();
      value = series.values.back() + (wraps ? wrap_angle_difference(change) : change);
    }
    series.times.push_back(segment.time(k));
    series.values.push_back(value);
    series.rows.push_back(static_cast<int>(k));
  }
  std::vector<double> gaps;
  for (std::size_t k = 1; k < series.size(); ++k) {
    gaps.push_back(static_cast<double>(series.rows[k] - series.rows[k - 1]));
  }
  if (!gaps.empty()) series.period *= compute_median(gaps);
  return series;
}

double normal_quantile(double two_sided_probability) {
  // Inverts the normal tail probability by bisection of erfc.
  double low = 0.0, high = 40.0;
  for (int i = 0; i < 60; ++i) {
    const double middle = 0.5 * (low + high);
    (std::erfc(middle / std::sqrt(2.0)) > two_sided_probability ? low : high) = middle;
  }
  return high;
}

double compute_median(std::vector<double>& values) {
  if (values.empty()) return 0.0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

double find_robust_quantization_step(const std::vector<ReadingSeries>& series, double scale) {
  std::vector<double> changes;
  for (const ReadingSeries& each : series) {
    for (std::size_t k = 1; k < each.size(); ++k) {
      const double change = std::abs(each.values[k] - each.values[k - 1]);
      if (change > kFinestQuantum * scale) changes.push_back(change);
    }
  }
  if (changes.size() < 2) return 0.0;
  const auto first = changes.begin() + static_cast<std::ptrdiff_t>(changes.size() / 100);
  std::ranges::nth_element(changes, first);
  double quantum = *first;
  const auto is_whole = [&](double change) {
    return std::abs(change / quantum - std::round(change / quantum)) < kQuantumTolerance &&
           change > 0.5 * quantum;
  };
  // Refine by larger multiples, so that truncated decimals do not accumulate.
  double multiples = 0.0, sum = 0.0;
  for (const double change : changes) {
    if (!is_whole(change)) continue;
    multiples += std::round(change / quantum);
    sum += change;
  }
  quantum = sum / multiples;
  const auto whole = static_cast<double>(std::ranges::count_if(changes, is_whole));
  return whole >= kWholeShare * static_cast<double>(changes.size()) ? quantum : 0.0;
}

NoiseScale::NoiseScale(const ReadingSeries& series, double quantum)
    : series_(series), quantum_(quantum) {
  const std::vector<double>& y = series.values;
  std::vector<double> all, block;
  const auto level = [](std::vector<double>& differences) {
    return kDeviationsPerMedian * compute_median(differences) / kFourthGain;
  };
  local_.assign(series.size() / kBlock + 1, 0.0);
  for (std::size_t b = 0; b < local_.size(); ++b) {
    block.clear();
    const std::size_t end = std::min((b + 1) * kBlock, series.size());
    for (std::size_t k = std::max<std::size_t>(b * kBlock, 4); k < end; ++k) {
      if (!series.is_dense(k - 4, 5)) continue;
      const double difference = y[k] - 4.0 * y[k - 1] + 6.0 * y[k - 2] - 4.0 * y[k - 3] + y[k - 4];
      // Spread whole counts evenly over their unit; otherwise their median is a whole count too.
      const double spread = std::fmod(kGolden * static_cast<double>(k), 1.0) - 0.5;
      block.push_back(std::abs(std::abs(difference) + spread * quantum));
    }
    all.insert(all.end(), block.begin(), block.end());
    if (block.size() >= kBlock / 4) local_[b] = level(block);
  }
  overall_ = level(all);
}

double NoiseScale::noise(std::size_t position) const {
  const std::size_t b = position / kBlock;
  double noise = std::max(overall_, local_[b]);
  if (b > 0) noise = std::max(noise, local_[b - 1]);
  if (b + 1 < local_.size()) noise = std::max(noise, local_[b + 1]);
  return noise;
}

double NoiseScale::sustained_acceleration(std::size_t stride, bool beyond_noise) const {
  const std::vector<double>&y = series_.values, &t = series_.times;
  if (series_.size() <= 6 * stride) return 0.0;
  std::vector<double> seconds(series_.size(), 0.0);  // |second difference| of readings
  for (std::size_t k = stride; k + stride < series_.size(); ++k) {
    if (!series_.is_dense(k - stride, 2 * stride + 1)) continue;
    const double before = (y[k] - y[k - stride]) / (t[k] - t[k - stride]);
    const double after = (y[k + stride] - y[k]) / (t[k + stride] - t[k]);
    seconds[k] = std::abs(after - before) * static_cast<double>(stride) * series_.period;
  }
  std::vector<double> lasting;
  std::array<double, 7> around;
  for (std::size_t k = 3 * stride; k + 3 * stride < series_.size(); ++k) {
    for (std::size_t i = 0; i < around.size(); ++i) {
      around[i] = seconds[k + i * stride - 3 * stride];
    }
    const double made = beyond_noise ? kLargestMedian * kSecondGain * noise(k) + quantum_ : 0.0;
    lasting.push_back(std::max(0.0, median_of_seven(around) - made));
  }
  return largest_sustained(std::move(lasting)) / static_cast<double>(stride * stride);
}

double NoiseScale::largest_sustained(std::vector<double> lasting) {
  const auto passed_over = lasting.begin() + static_cast<std::ptrdiff_t>(lasting.size() / kCrowds);
  std::ranges::nth_element(lasting, passed_over, std::greater<>());
  return *passed_over;
}

double NoiseScale::acceleration_despite_runs() const {
  constexpr std::size_t kReach = 7;  // five false readings change seven of 2 · 7 + 1 differences
  const std::vector<double>& y = series_.values;
  std::vector<double> seconds, lasting;
  for (std::size_t k = 1; k + 1 < y.size(); ++k) {
    const bool is_dense = series_.is_dense(k - 1, 3);
    seconds.push_back(is_dense ? std::abs(y[k + 1] - 2.0 * y[k] + y[k - 1]) : 0.0);
  }
  std::array<double, 2 * kReach + 1> around;
  for (std::size_t k = 0; k + around.size() <= seconds.size(); ++k) {
    std::copy_n(seconds.begin() + static_cast<std::ptrdiff_t>(k), around.size(), around.begin());
    std::ranges::nth_element(around, around.begin() + kReach);
    lasting.push_back(around[kReach]);
  }
  if (lasting.empty()) return std::numeric_limits<double>::infinity();
  return largest_sustained(std::move(lasting));
}

double NoiseScale::sustained_acceleration_over_strides(std::size_t longest) const {
  double least = std::min(sustained_acceleration(1, false), acceleration_despite_runs());
  for (std::size_t stride = 2; stride <= longest; stride *= 2) {
    if (series_.size() > 6 * stride) least = std::min(least, sustained_acceleration(stride, false));
  }
  return least;
}

PolynomialFit::PolynomialFit(const ReadingSeries& series, std::size_t first, std::size_t count,
                             int degree)
    : times_(series.times.data() + first, count),
      values_(series.values.data() + first, count),
      size_(static_cast<std::size_t>(degree) + 1),
      origin_(0.5 * (times_.front() + times_.back())),
      scale_(2.0 / (times_.back() - times_.front())),
      unit_(series.period) {
  call_with_size([this](auto size) { fit<size>(); });
}

/// Calls a function with the number of coefficients as a compile-time constant, so that sums over
/// readings stay in registers.
template <typename Function>
void PolynomialFit::call_with_size(const Function& function) const {
  switch (size_) {
    case 1:
      return function(std::integral_constant<std::size_t, 1>());
    case 2:
      return function(std::integral_constant<std::size_t, 2>());
    case 3:
      return function(std::integral_constant<std::size_t, 3>());
    default:
      return function(std::integral_constant<std::size_t, kDegreeMax + 1>());
  }
}

template <std::size_t kSize>
void PolynomialFit::fit() {
  // Moments of time, and of time and readings. Readings are relative to the first one, so that
  // accumulated turns cost no precision.
  std::array<double, 2 * kSize - 1> moments{};
  std::array<double, kSize> sums{};
  for (std::size_t i = 0; i < times_.size(); ++i) {
    const double u = scaled_time(times_[i]), value = values_[i] - values_.front();
    double power = 1.0;
    for (std::size_t k = 0; k < 2 * kSize - 1; ++k, power *= u) {
      moments[k] += power;
      if (k < kSize) sums[k] += power * value;
    }
  }
  for (std::size_t i = 0; i < kSize; ++i) {
    for (std::size_t j = 0; j < kSize; ++j) inverse_[i][j] = moments[i + j];
  }
  invert_normal_matrix();
  for (std::size_t i = 0; i < kSize; ++i) {
    for (std::size_t j = 0; j < kSize; ++j) coefficients_[i] += inverse_[i][j] * sums[j];
  }
  coefficients_[0] += values_.front();
}

/// Inverts the normal matrix, which is positive definite, by Gauss–Jordan without pivoting.
void PolynomialFit::invert_normal_matrix() {
  for (std::size_t k = 0; k < size_; ++k) {
    const double pivot = 1.0 / inverse_[k][k];
    inverse_[k][k] = 1.0;
    for (std::size_t j = 0; j < size_; ++j) inverse_[k][j] *= pivot;
    for (std::size_t i = 0; i < size_; ++i) {
      if (i == k) continue;
      const double factor = inverse_[i][k];
      inverse_[i][k] = 0.0;
      for (std::size_t j = 0; j < size_; ++j) inverse_[i][j] -= factor * inverse_[k][j];
    }
  }
}

template <std::size_t kSize>
double PolynomialFit::evaluate_polynomial(const Coefficients& coefficients, double u) {
  double value = 0.0;
  for (std::size_t i = kSize; i-- > 0;) value = value * u + coefficients[i];
  return value;
}

double PolynomialFit::value(double time) const {
  double value = 0.0;
  call_with_size(
      [&](auto size) { value = evaluate_polynomial<size>(coefficients_, scaled_time(time)); });
  return value;
}

double PolynomialFit::slope(double time) const {
  const double u = scaled_time(time);
  double slope = 0.0, power = scale_;
  for (std::size_t i = 1; i < size_; ++i, power *= u)
    slope += static_cast<double>(i) * coefficients_[i] * power;
  return slope;
}

PolynomialPrediction PolynomialFit::at(double time) const {
  // A reading's weight is a polynomial of its time.
  Coefficients weights{};
  double power = 1.0;
  for (std::size_t j = 0; j < size_; ++j, power *= scaled_time(time)) {
    for (std::size_t i = 0; i < size_; ++i) weights[i] += inverse_[i][j] * power;
  }
  PolynomialPrediction reach{.value = value(time)};
  double squares = 0.0;
  PeanoKernel kernel;
  bool is_passed = false;
  call_with_size([&](auto size) {
    for (std::size_t i = times_.size(); i-- > 0;) {
      const double weight = evaluate_polynomial<size>(weights, scaled_time(times_[i]));
      const double distance = (times_[i] - time) / unit_;
      squares += weight * weight;
      reach.sum += std::abs(weight);
      if (!is_passed && distance < 0.0) kernel.add(0.0, -1.0);
      is_passed |= distance < 0.0;
      kernel.add(distance, weight);
    }
  });
  if (!is_passed) kernel.add(0.0, -1.0);
  reach.bend = kernel.integral();
  reach.noise_gain = std::sqrt(squares);
  return reach;
}

double PolynomialFit::residual_variance() const {
  double squares = 0.0;
  call_with_size([&](auto size) {
    for (std::size_t i = 0; i < times_.size(); ++i) {
      const double left =
          values_[i] - evaluate_polynomial<size>(coefficients_, scaled_time(times_[i]));
      squares += left * left;
    }
  });
  const double left_over = static_cast<double>(times_.size()) - static_cast<double>(size_);
  return left_over > 0.0 ? squares / left_over : std::numeric_limits<double>::infinity();
}

}  // namespace estimator
