#include "estimator/diagnostics/jumps/outliers.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>

#include "estimator/diagnostics/jumps/edge_fit.hpp"

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

constexpr std::size_t kLongestStride = 4;  // readings, longest interval for accelerations
constexpr double kBendMargin = 2.0;        // ratio to the largest sustained acceleration

/// Finds the outliers of one series of readings, from first to last.
class OutlierSearch {
 public:
  OutlierSearch(const ReadingSeries& series, const NoiseScale& scale, SeriesKind kind,
                double chance)
      : series_(series),
        scale_(scale),
        bound_(normal_quantile(chance / std::max<double>(1.0, static_cast<double>(series.size())))),
        windows_(kind == SeriesKind::kMotion ? std::span<const SideWindow>(kMotionWindows)
                                             : std::span<const SideWindow>(kResidualWindows)),
        bend_(kBendMargin * (kind == SeriesKind::kMotion
                                 ? scale.acceleration(kLongestStride)
                                 : scale.sustained_acceleration(kLongestStride, true))) {}

  std::vector<Outlier> run() {
    std::vector<Outlier> found;
    const std::size_t n = series_.size();
    for (std::size_t first = 0; first < n; ++first) {
      if (!is_suspect(first)) continue;
      for (std::size_t count = 1; count <= kOutliersInARow && first + count <= n; ++count) {
        const std::vector<Outlier> off = judge(first, count);
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
  double excess(const EdgeFit& side, std::size_t position) const {
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

  std::optional<EdgeFit> side(std::size_t first, const SideWindow& window) const {
    if (!series_.is_dense(first, window.count)) return std::nullopt;
    return EdgeFit({series_.times.data() + first, window.count},
                   {series_.values.data() + first, window.count}, window.degree, series_.period);
  }

  /// Returns the outliers among `count` readings from `first` on; empty unless the first and last
  /// of these readings are outliers.
  std::vector<Outlier> judge(std::size_t first, std::size_t count) const {
    for (const SideWindow& window : windows_) {
      std::vector<Outlier> off = judge(first, count, window);
      if (!off.empty()) return off;
    }
    return {};
  }

  std::vector<Outlier> judge(std::size_t first, std::size_t count, const SideWindow& window) const {
    const std::size_t behind = first + count;
    const bool has_left = first >= window.count, at_start = first == 0;
    const bool has_right = behind + window.count <= series_.size();
    const bool at_end = behind == series_.size();
    if (!(has_left || at_start) || !(has_right || at_end)) return {};
    const std::optional<EdgeFit> left =
        has_left ? side(first - window.count, window) : std::nullopt;
    const std::optional<EdgeFit> right = has_right ? side(behind, window) : std::nullopt;
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

  const ReadingSeries& series_;
  const NoiseScale& scale_;
  double bound_;
  std::span<const SideWindow> windows_;
  double bend_;
};

}  // namespace

std::vector<Outlier> find_outliers(const ReadingSeries& series, const NoiseScale& scale,
                                   SeriesKind kind, double chance) {
  return OutlierSearch(series, scale, kind, chance).run();
}

}  // namespace estimator
