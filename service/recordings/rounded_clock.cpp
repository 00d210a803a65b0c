#include "service/recordings/rounded_clock.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>

#include "estimator/signal/time_series.hpp"
#include "service/recordings/burst_clock.hpp"
#include "service/text/column_statistics.hpp"

namespace service {
namespace {

constexpr double kCoarse = 0.5;         // [mean steps]: a finer unit shows missing rows
constexpr double kPause = 1.5;          // [mean steps]: a step longer by a unit is a pause
constexpr double kExplained = 1.1;      // [units]: largest range of deviations due to rounding
constexpr std::size_t kRowsMin = 50;    // between two pauses
constexpr int kRepeatsMin = 3;          // equal stamps; fewer may be a faulty row
constexpr double kDeviationMax = 30.0;  // [usual deviations]: limits the weight of outliers
constexpr double kImprovement = 1.05;   // least ratio of roughnesses at which times are replaced

/// Returns the range of the deviations of time stamps from a clock that starts at 0.
estimator::ValueRange deviations_from_clock(std::span<const double> stamps, double period) {
  estimator::ValueRange range;
  for (std::size_t k = 0; k < stamps.size(); ++k) {
    range.add(stamps[k] - period * static_cast<double>(k));
  }
  return range;
}

/// Returns the period for which the range of deviations is smallest, by golden-section search. The
/// range is a convex function of the period.
double narrowest_period(std::span<const double> stamps, double unit) {
  const auto count = static_cast<double>(stamps.size() - 1);
  const double mean = (stamps.back() - stamps.front()) / count;
  double low = mean - 2.0 * unit / count, high = mean + 2.0 * unit / count;
  constexpr double kGolden = 0.6180339887498949;
  const auto width = [&](double period) { return deviations_from_clock(stamps, period).width(); };
  for (int k = 0; k < 60; ++k) {
    const double a = high - kGolden * (high - low), b = low + kGolden * (high - low);
    if (width(a) < width(b)) {
      high = b;
    } else {
      low = a;
    }
  }
  return 0.5 * (low + high);
}

/// Returns the times of a regular clock in each part between two pauses; none if rounding does not
/// explain the stamps.
std::vector<double> fit_regular_clock(const std::vector<double>& stamps, double unit, double step) {
  std::vector<double> times;
  for (std::size_t end = 1; end <= stamps.size(); ++end) {
    if (end < stamps.size() && stamps[end] - stamps[end - 1] <= kPause * step + unit) continue;
    const std::span part = std::span(stamps).subspan(times.size(), end - times.size());
    if (part.size() < kRowsMin) return {};
    const double period = narrowest_period(part, unit);
    const estimator::ValueRange range = deviations_from_clock(part, period);
    if (range.width() > kExplained * unit) return {};
    const double start = 0.5 * (range.low + range.high);
    for (std::size_t k = 0; k < part.size(); ++k) {
      times.push_back(start + period * static_cast<double>(k));
    }
  }
  return times;
}

/// Returns the deviation of a reading from the cubic through two readings on either side, for
/// readings of equal variance relative to its standard deviation; NaN if a reading is missing.
double deviation_from_neighbours(const std::vector<double>& times,
                                 const std::vector<double>& readings, std::size_t row) {
  const std::size_t nodes[] = {row - 2, row - 1, row + 1, row + 2};
  double deviation = readings[row], variance = 1.0;
  for (const std::size_t node : nodes) {
    double weight = 1.0;
    for (const std::size_t other : nodes) {
      if (other != node) weight *= (times[row] - times[other]) / (times[node] - times[other]);
    }
    deviation -= weight * readings[node];
    variance += weight * weight;
  }
  return std::abs(deviation) / std::sqrt(variance);
}

/// Returns the deviations of a column's readings from their neighbours, without missing readings.
std::vector<double> deviations_of(const std::vector<double>& times,
                                  const std::vector<double>& readings) {
  std::vector<double> deviations;
  for (std::size_t k = 2; k + 2 < times.size(); ++k) {
    const double each = deviation_from_neighbours(times, readings, k);
    if (std::isfinite(each)) deviations.push_back(each);
  }
  return deviations;
}

/// Returns the usual deviation of each column, without readings at rest; 0 if there are none.
std::vector<double> usual_deviations(const std::vector<double>& times,
                                     const std::vector<std::vector<double>>& readings) {
  std::vector<double> usual;
  for (const std::vector<double>& column : readings) {
    std::vector<double> deviations = deviations_of(times, column);
    std::erase(deviations, 0.0);
    usual.push_back(deviations.empty() ? 0.0 : median(std::move(deviations)));
  }
  return usual;
}

/// Returns the sum of squared deviations relative to the usual ones. Wrong times of moving readings
/// increase it.
double compute_roughness(const std::vector<double>& times,
                         const std::vector<std::vector<double>>& readings,
                         const std::vector<double>& scale) {
  double sum = 0.0;
  for (std::size_t i = 0; i < readings.size(); ++i) {
    if (!(scale[i] > 0.0)) continue;
    for (const double each : deviations_of(times, readings[i])) {
      sum += std::pow(std::min(each / scale[i], kDeviationMax), 2);
    }
  }
  return sum;
}

}  // namespace

double rounding_unit(const std::vector<double>& stamps) {
  constexpr double kTolerance = 1e-3;  // [units]
  for (const double unit : {1.0, 0.1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6}) {
    const bool fits = std::ranges::all_of(stamps, [&](double time) {
      const double count = (time - stamps.front()) / unit;
      return std::abs(count - std::round(count)) < kTolerance;
    });
    if (fits) return unit;
  }
  return 0.0;
}

std::vector<double> recover_rounded_clock(const std::vector<double>& stamps,
                                          const std::vector<std::vector<double>>& readings) {
  const double unit = rounding_unit(stamps), step = mean_time_step(stamps);
  if (!(unit > kCoarse * step)) return {};
  std::vector<double> times = fit_regular_clock(stamps, unit, step);
  std::ptrdiff_t repeats = 0;
  for (std::size_t k = 1; k < stamps.size(); ++k) repeats += stamps[k] == stamps[k - 1] ? 1 : 0;
  if (times.empty() || repeats > 0) {
    if (repeats < kRepeatsMin) times.clear();
    return times;
  }
  const std::vector<double> scale = usual_deviations(times, readings);
  const double regular = compute_roughness(times, readings, scale);
  if (!(kImprovement * regular < compute_roughness(stamps, readings, scale))) times.clear();
  return times;
}

}  // namespace service
