#include "estimator/diagnostics/jumps/outliers_and_steps.hpp"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <optional>
#include <span>

namespace estimator {
namespace {

/// The number of readings on each side of an outlier, and the degree of the polynomial through
/// them. Short windows follow the motion, long windows average noise.
struct SideWindow {
  std::size_t count;
  int degree;
};
constexpr SideWindow kMotionWindows[] = {{3, 1}, {8, 2}};
constexpr SideWindow kResidualWindows[] = {{8, 2}, {24, 2}};

/// The same for the line between the readings on both sides.
constexpr SideWindow kBetweenWindow = {8, 2};
/// Smallest ratio of a deviation from this line to the mismatch of both extrapolations.
constexpr double kMismatchMargin = 2.0;

constexpr std::size_t kLongestStride = 4;  // readings, longest interval for accelerations
constexpr double kBendMargin = 2.0;        // ratio to the largest sustained acceleration

/// Finds the outliers of one series of readings, from first to last.
class OutlierSearch {
 public:
  OutlierSearch(const ReadingSeries& series, const NoiseScale& scale, SeriesKind kind,
                double chance)
      : series_(series),
        scale_(scale),
        kind_(kind),
        bound_(normal_quantile(chance / std::max<double>(1.0, static_cast<double>(series.size())))),
        windows_(kind == SeriesKind::kMotion ? std::span<const SideWindow>(kMotionWindows)
                                             : std::span<const SideWindow>(kResidualWindows)),
        bend_(kBendMargin * (kind == SeriesKind::kMotion
                                 ? scale.sustained_acceleration_over_strides(kLongestStride)
                                 : scale.sustained_acceleration(kLongestStride, true))) {}

  std::vector<Outlier> run() {
    std::vector<Outlier> found;
    const std::size_t n = series_.size();
    for (std::size_t first = 0; first < n; ++first) {
      if (!is_suspect(first)) continue;
      for (std::size_t count = 1; count <= kOutliersInARow && first + count <= n; ++count) {
        std::vector<Outlier> off;
        for (const SideWindow& window : windows_) {
          if (off.empty()) off = judge(first, count, window);
        }
        if (off.empty() && kind_ == SeriesKind::kMotion) off = judge_between(first, count);
        if (off.empty()) continue;
        found.insert(found.end(), off.begin(), off.end());
        first += count;
        break;
      }
    }
    return found;
  }

 private:
  /// Returns the signed deviation of a reading from one side's polynomial; 0 within tolerance.
  double excess(const PolynomialFit& side, std::size_t position) const {
    const PolynomialPrediction reach = side.at(series_.times[position]);
    const double off = series_.values[position] - reach.value;
    const double noise = std::max(scale_.noise(position), std::sqrt(side.residual_variance()));
    // Upper bound of accumulated quantization errors; smaller ones scatter like noise.
    const double counting = 0.5 * scale_.quantum() * (1.0 + reach.sum);
    const double allowed =
        std::max(bound_ * noise * std::hypot(1.0, reach.noise_gain), counting) + bend_ * reach.bend;
    return std::abs(off) > allowed ? off : 0.0;
  }

  /// Returns whether a reading may be the first outlier of a run, by a cheap necessary condition:
  /// the change from the reading before differs from the change before that, or there is none.
  bool is_suspect(std::size_t k) const {
    if (k < 2) return true;
    const std::vector<double>& y = series_.values;
    const double difference = std::abs(y[k] - 2.0 * y[k - 1] + y[k - 2]);
    return difference > std::max(bound_ * scale_.noise(k), 0.5 * scale_.quantum());
  }

  std::optional<PolynomialFit> side(std::size_t first, const SideWindow& window) const {
    if (!series_.is_dense(first, window.count)) return std::nullopt;
    return PolynomialFit(series_, first, window.count, window.degree);
  }

  /// Returns the outliers among `count` readings from `first` on; empty unless the first and last
  /// of these readings are outliers.
  std::vector<Outlier> judge(std::size_t first, std::size_t count, const SideWindow& window) const {
    const std::size_t behind = first + count;
    const bool has_left = first >= window.count, at_start = first == 0;
    const bool has_right = behind + window.count <= series_.size();
    const bool at_end = behind == series_.size();
    if (!(has_left || at_start) || !(has_right || at_end)) return {};
    const std::optional<PolynomialFit> left =
        has_left ? side(first - window.count, window) : std::nullopt;
    const std::optional<PolynomialFit> right = has_right ? side(behind, window) : std::nullopt;
    if ((has_left && !left) || (has_right && !right) || (!left && !right)) return {};
    std::vector<Outlier> off;
    for (std::size_t k = first; k < behind; ++k) {
      const double by_left = left ? excess(*left, k) : 0.0;
      const double by_right = right ? excess(*right, k) : 0.0;
      const double larger = std::abs(by_left) > std::abs(by_right) ? by_left : by_right;
      const double smaller = !left || !right ? larger : larger == by_left ? by_right : by_left;
      if (larger * smaller > 0.0) {
        off.push_back({k, smaller});
      } else if (k == first || k + 1 == behind) {
        return {};
      }
    }
    return off;
  }

  /// Returns `count` readings from `first` on as outliers if all of them deviate to the same side
  /// from the line between the readings before and after them; else returns none. This finds
  /// smaller deviations of long runs, for which extrapolations are uncertain. A motion whose speed
  /// changes by Δv in the interval T deviates by at most T Δv / 4 from the line. Extrapolations of
  /// both sides that do not meet show a step or a motion that is too fast for the sampling.
  std::vector<Outlier> judge_between(std::size_t first, std::size_t count) const {
    const auto [size, degree] = kBetweenWindow;
    const std::size_t behind = first + count;
    if (first < size || behind + size > series_.size()) return {};
    if (!series_.is_dense(first - size, count + 2 * size)) return {};
    const PolynomialFit left(series_, first - size, size, degree);
    const PolynomialFit right(series_, behind, size, degree);
    const double begin = series_.times[first - 1], end = series_.times[behind];
    const PolynomialPrediction before = left.at(begin), after = right.at(end);
    const double noise = std::sqrt(std::max(
        {std::pow(scale_.noise(first), 2), left.residual_variance(), right.residual_variance()}));
    const double gain = std::hypot(1.0, before.noise_gain, after.noise_gain);
    const double counting = 0.5 * scale_.quantum() * (1.0 + std::max(before.sum, after.sum));
    const double middle = 0.5 * (begin + end);
    const double mismatch = std::abs(right.value(middle) - left.value(middle));
    const double bent = 0.25 * (end - begin) * std::abs(right.slope(end) - left.slope(begin));
    const double allowed = std::max(std::max(bound_ * noise * gain, counting) + kBendMargin * bent,
                                    kMismatchMargin * mismatch);
    std::vector<Outlier> off;
    for (std::size_t k = first; k < behind; ++k) {
      const double part = (series_.times[k] - begin) / (end - begin);
      const double line = before.value + part * (after.value - before.value);
      const double deviation = series_.values[k] - line;
      if (!(std::abs(deviation) > allowed)) return {};
      if (!off.empty() && deviation * off.front().size < 0.0) return {};
      off.push_back({k, deviation});
    }
    return off;
  }

  const ReadingSeries& series_;
  const NoiseScale& scale_;
  SeriesKind kind_;
  double bound_;
  std::span<const SideWindow> windows_;
  double bend_;
};

struct StepWindow {
  std::size_t count;  ///< readings on each side
  int degree;
  std::size_t stride;  ///< longest interval for accelerations
};
/// Windows to find steps, short for a motion because it bends; residuals are nearly straight.
constexpr StepWindow kMotionSteps[] = {{4, 1, 4}, {12, 2, 8}};
constexpr StepWindow kResidualSteps[] = {{4, 1, 1}, {12, 2, 6}, {36, 2, 18}, {108, 2, 54}};

/// Readings on each side of a possible run of outliers at a step. In windows that are much longer
/// than such a run, the run is no step.
constexpr SideWindow kLastingWindow = {8, 2};

/// Acceleration of tabletop rigs under gravity and motors [rad/s²]. It is allowed even if a
/// recording has no sustained acceleration that large.
constexpr double kPlausibleAcceleration = 100.0;

constexpr double kFastestTurn = 1.0;  // [rad] between consecutive readings

constexpr double kSlack = 1e-9;  // rounding error, so that perfect readings have no steps

class StepSearch {
 public:
  StepSearch(const ReadingSeries& series, const NoiseScale& scale, SeriesKind kind, double unit,
             double chance)
      : series_(series), scale_(scale), kind_(kind), unit_(unit) {
    bound_ = normal_quantile(chance / std::max<double>(1.0, static_cast<double>(series.size())));
  }

  std::vector<ReadingStep> run() {
    std::vector<Candidate> candidates;
    for (const StepWindow& window : kind_ == SeriesKind::kMotion
                                        ? std::span<const StepWindow>(kMotionSteps)
                                        : std::span<const StepWindow>(kResidualSteps)) {
      scan(window, candidates);
    }
    const auto ratio_of = [](const Candidate& candidate) { return candidate.step.ratio; };
    std::ranges::sort(candidates, std::greater<>(), ratio_of);
    std::vector<Candidate> kept;
    for (const Candidate& candidate : candidates) {
      const auto is_beside = [&](const Candidate& other) {
        const std::size_t reach = std::max(candidate.reach, other.reach);
        const std::size_t a = candidate.step.position, b = other.step.position;
        return (a > b ? a - b : b - a) <= reach;
      };
      if (std::ranges::none_of(kept, is_beside)) kept.push_back(candidate);
    }
    std::vector<ReadingStep> steps;
    for (const Candidate& candidate : kept) steps.push_back(candidate.step);
    std::ranges::sort(steps, {}, &ReadingStep::position);
    return steps;
  }

 private:
  struct Candidate {
    ReadingStep step;
    std::size_t reach;  ///< readings on each side used by its windows
  };

  void scan(const StepWindow& window, std::vector<Candidate>& candidates) const {
    const double period = series_.period;
    const double bend =
        kind_ == SeriesKind::kResidual
            ? kBendMargin * scale_.sustained_acceleration(window.stride, true)
            : std::max(kBendMargin * scale_.sustained_acceleration_over_strides(window.stride),
                       kPlausibleAcceleration * unit_ * period * period);
    for (std::size_t k = window.count; k + window.count <= series_.size(); ++k) {
      if (!is_suspect(k, window)) continue;
      if (const std::optional<Candidate> found = judge(k, window, bend)) {
        candidates.push_back(*found);
      }
    }
  }

  /// Returns whether there may be a step, by a cheap necessary condition: the change differs from
  /// the adjacent ones or, for long windows that detect smaller steps, the means on both sides
  /// differ.
  bool is_suspect(std::size_t k, const StepWindow& window) const {
    const std::vector<double>& y = series_.values;
    const double least = std::max(scale_.noise(k), 0.5 * scale_.quantum());
    if (window.count <= kMotionSteps[1].count) {
      const double beside = 0.5 * (y[k - 1] - y[k - 2] + y[k + 1] - y[k]);
      return std::abs(y[k] - y[k - 1] - beside) > least;
    }
    constexpr std::size_t kMean = 9;
    double before = 0.0, after = 0.0;
    for (std::size_t i = 0; i < kMean; ++i) {
      before += y[k - 1 - i];
      after += y[k + i];
    }
    return std::abs(after - before) / kMean > least;
  }

  /// Returns whether a step is ruled out by a cheap test: the difference of the polynomials at
  /// either end is within noise. The weights of m readings sum to one, so that their noise gain is
  /// at least 1/√m; a wrong polynomial leaves more.
  bool is_hopeless(std::size_t k, std::size_t m, std::initializer_list<double> sizes) const {
    const double gain = std::sqrt(2.0 / static_cast<double>(m));
    const double allowed = bound_ * scale_.noise(k) * gain + kSlack * unit_;
    return std::ranges::any_of(
        sizes, [&](double size) { return std::abs(size) < (1.0 - kSlack) * allowed; });
  }

  std::optional<Candidate> judge(std::size_t k, const StepWindow& window, double bend) const {
    const std::size_t m = window.count;
    if (!series_.is_dense(k - m, 2 * m)) return std::nullopt;
    const double* t = series_.times.data() + k;
    const PolynomialFit left(series_, k - m, m, window.degree), right(series_, k, m, window.degree);
    if (is_hopeless(
            k, m, {right.value(t[-1]) - left.value(t[-1]), right.value(t[0]) - left.value(t[0])})) {
      return std::nullopt;
    }
    const double left_over = std::max(left.residual_variance(), right.residual_variance());
    const double noise = std::max(scale_.noise(k), std::sqrt(left_over));
    Candidate candidate{{k, 0.0, 0.0, std::numeric_limits<double>::infinity()}, m};
    double sizes[2];
    for (int end = 0; end < 2; ++end) {
      const double time = t[end - 1];
      const PolynomialPrediction before = left.at(time), after = right.at(time);
      sizes[end] = after.value - before.value;
      const double deviation = noise * std::hypot(before.noise_gain, after.noise_gain);
      // Upper bound of accumulated quantization errors; smaller ones scatter like noise.
      const double counting = 0.5 * scale_.quantum() * (before.sum + after.sum);
      const double allowed = std::max(bound_ * deviation, counting) +
                             bend * (before.bend + after.bend) + kSlack * unit_;
      candidate.step.ratio = std::min(candidate.step.ratio, std::abs(sizes[end]) / allowed);
      candidate.step.deviation = std::max(candidate.step.deviation, deviation);
    }
    if (!(candidate.step.ratio > 1.0) || !(sizes[0] * sizes[1] > 0.0)) return std::nullopt;
    // So fast a joint may have made full turns in between.
    if (kind_ == SeriesKind::kMotion &&
        std::abs(left.slope(t[-1])) * (t[0] - t[-1]) > kFastestTurn * unit_) {
      return std::nullopt;
    }
    candidate.step.size = 0.5 * (sizes[0] + sizes[1]);
    // Residuals of a wrong model have many steps. All of them count: they reveal this model.
    if (kind_ == SeriesKind::kMotion && m <= kMotionSteps[1].count && !is_lasting(candidate.step)) {
      return std::nullopt;
    }
    return candidate;
  }

  /// Returns whether the displacement persists: readings beyond a possible run of outliers, after
  /// or before the step, are displaced by an amount closer to its size than to zero.
  bool is_lasting(const ReadingStep& step) const {
    const std::size_t k = step.position;
    return is_displaced(k, k + kOutliersInARow, step.size) &&
           (k < kOutliersInARow || is_displaced(k - kOutliersInARow, k, step.size));
  }

  /// Compares the readings before `behind` and from `from` on, halfway between them. Returns true
  /// if there are too few readings.
  bool is_displaced(std::size_t behind, std::size_t from, double size) const {
    const auto [count, degree] = kLastingWindow;
    if (behind < count || from + count > series_.size()) return true;
    if (!series_.is_dense(behind - count, from - behind + 2 * count)) return true;
    const double time = 0.5 * (series_.times[behind - 1] + series_.times[from]);
    const double displacement = PolynomialFit(series_, from, count, degree).value(time) -
                                PolynomialFit(series_, behind - count, count, degree).value(time);
    return std::abs(displacement - size) < std::abs(displacement);
  }

  const ReadingSeries& series_;
  const NoiseScale& scale_;
  SeriesKind kind_;
  double unit_, bound_;
};

}  // namespace

std::vector<Outlier> find_outliers(const ReadingSeries& series, const NoiseScale& scale,
                                   SeriesKind kind, double chance) {
  return OutlierSearch(series, scale, kind, chance).run();
}

std::vector<ReadingStep> find_reading_steps(const ReadingSeries& series, const NoiseScale& scale,
                                            SeriesKind kind, double unit, double chance) {
  return StepSearch(series, scale, kind, unit, chance).run();
}

}  // namespace estimator
