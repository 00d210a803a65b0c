#include "service/recordings/burst_clock.hpp"

#include <algorithm>
#include <cmath>

#include "service/text/column_statistics.hpp"

namespace service {
namespace {

constexpr double kShortStep = 0.3;      // [periods]: a shorter step lies inside a burst
constexpr double kLongStep = 1.2;       // [periods]: a longer step lies between bursts
constexpr double kShortShare = 0.3;     // least share of short steps
constexpr double kOddShare = 0.05;      // largest share of steps that are neither short nor long
constexpr double kChangeShare = 0.5;    // least change over short steps, relative to long steps
constexpr double kChangeMax = 4.0;      // larger changes count as this many mean changes
constexpr double kRegularShare = 0.9;   // share of equal bursts at which bursts are regular
constexpr double kRegularSpread = 0.5;  // [periods]: largest spread of regular bursts
// [periods]: largest spread of the ends of unequal bursts. A burst ends up to one period after its
// last row was sampled. A lost row adds another period.
constexpr double kUnequalSpread = 1.25;
constexpr double kPauseMax = 4.0;  // [long steps]: a longer time step is a pause
constexpr std::size_t kBurstsMin = 5;
constexpr std::size_t kWindow = 5;  // bursts; a late burst does not shift the median of a window

std::vector<double> time_steps(const std::vector<double>& times) {
  std::vector<double> steps;
  for (std::size_t k = 1; k < times.size(); ++k) steps.push_back(times[k] - times[k - 1]);
  return steps;
}

/// Checks that a column changes as much over short steps as over long ones, or not at all.
bool changes_evenly(const std::vector<double>& readings, const std::vector<double>& steps,
                    double period) {
  double mean = 0.0, count = 0.0;
  const auto change = [&](std::size_t k) { return std::abs(readings[k + 1] - readings[k]); };
  for (std::size_t k = 0; k < steps.size(); ++k) {
    if (std::isnan(change(k))) continue;
    mean += change(k);
    count += 1.0;
  }
  mean /= std::max(count, 1.0);
  double sums[2] = {}, counts[2] = {};
  for (std::size_t k = 0; k < steps.size(); ++k) {
    if (std::isnan(change(k))) continue;
    const bool is_long = steps[k] >= kShortStep * period;
    sums[is_long] += std::min(change(k), kChangeMax * mean);  // limits outliers and turns
    counts[is_long] += 1.0;
  }
  return sums[0] * counts[1] >= kChangeShare * sums[1] * counts[0];
}

/// Rows of successive bursts without a pause. `ends` are the last rows of the bursts.
struct BurstTrain {
  std::size_t first = 0;
  std::vector<std::size_t> ends;
};

/// Splits the bursts where more time passes than their rows need.
std::vector<BurstTrain> split_at_pauses(const std::vector<double>& arrivals,
                                        const std::vector<std::size_t>& ends, double period,
                                        double interval) {
  std::vector<BurstTrain> trains = {{0, {ends.front()}}};
  for (std::size_t b = 1; b < ends.size(); ++b) {
    const double idle = arrivals[ends[b]] - arrivals[ends[b - 1]] -
                        static_cast<double>(ends[b] - ends[b - 1]) * period;
    if (idle > std::max(1.5 * period, 0.5 * interval)) trains.push_back({ends[b - 1] + 1, {}});
    trains.back().ends.push_back(ends[b]);
  }
  return trains;
}

/// Returns the median slope of arrival time over row number.
double median_slope(const std::vector<double>& arrivals, const std::vector<std::size_t>& ends) {
  const std::size_t apart = std::max<std::size_t>(1, (ends.size() - 1) / 2);
  std::vector<double> slopes;
  for (std::size_t b = apart; b < ends.size(); ++b) {
    slopes.push_back((arrivals[ends[b]] - arrivals[ends[b - apart]]) /
                     static_cast<double>(ends[b] - ends[b - apart]));
  }
  return median(std::move(slopes));
}

/// Returns the arrival times of the last rows, minus the sampling times of a clock that starts at
/// 0.
std::vector<double> clock_starts(const std::vector<double>& arrivals, const BurstTrain& train,
                                 double period) {
  std::vector<double> starts;
  for (const std::size_t end : train.ends) {
    starts.push_back(arrivals[end] - period * static_cast<double>(end));
  }
  return starts;
}

/// Returns the least-squares correction of a period, from bursts that are at most a period late.
double period_correction(const std::vector<double>& arrivals, const std::vector<BurstTrain>& trains,
                         double period) {
  double covariance = 0.0, variance = 0.0;
  for (const BurstTrain& train : trains) {
    const std::vector<double> starts = clock_starts(arrivals, train, period);
    const double start = median(starts);
    const auto is_used = [&](std::size_t b) { return std::abs(starts[b] - start) <= period; };
    double middle = 0.0, count = 0.0;
    for (std::size_t b = 0; b < starts.size(); ++b) {
      if (!is_used(b)) continue;
      middle += static_cast<double>(train.ends[b]);
      count += 1.0;
    }
    middle /= count;
    for (std::size_t b = 0; b < starts.size(); ++b) {
      if (!is_used(b)) continue;
      const double from_middle = static_cast<double>(train.ends[b]) - middle;
      covariance += from_middle * (starts[b] - start);
      variance += from_middle * from_middle;
    }
  }
  return variance > 0.0 ? covariance / variance : 0.0;
}

/// Returns the range of the medians of successive values. A lost row shifts all later values.
double spread_of_medians(const std::vector<double>& values) {
  const std::size_t window = std::min(kWindow, values.size());
  std::vector<double> medians;
  for (std::size_t k = window; k <= values.size(); ++k) {
    const auto end = values.begin() + static_cast<std::ptrdiff_t>(k);
    medians.push_back(median({end - static_cast<std::ptrdiff_t>(window), end}));
  }
  const auto [low, high] = std::ranges::minmax(medians);
  return high - low;
}

}  // namespace

double mean_time_step(const std::vector<double>& times) {
  std::vector<double> steps = time_steps(times);
  std::erase_if(steps, [](double step) { return std::isnan(step); });
  std::vector<double> long_steps = steps;  // the rows of a burst may have one time stamp
  std::erase_if(long_steps, [](double step) { return !(step > 0.0); });
  if (long_steps.empty()) return 0.0;
  const auto high = long_steps.begin() + 95 * (std::ssize(long_steps) - 1) / 100;
  std::ranges::nth_element(long_steps, high);
  const double usual = *high;
  double sum = 0.0;
  for (const double step : steps) sum += step > kPauseMax * usual ? usual : step;
  return sum / static_cast<double>(steps.size());
}

std::optional<BurstClock> recover_burst_clock(const std::vector<double>& arrivals,
                                              const std::vector<std::vector<double>>& readings) {
  const std::vector<double> steps = time_steps(arrivals);
  const double mean = mean_time_step(arrivals);
  if (!(mean > 0.0)) return std::nullopt;
  std::vector<std::size_t> ends;
  double odd = 0.0;
  for (std::size_t k = 0; k < steps.size(); ++k) {
    if (steps[k] < kShortStep * mean) continue;
    if (steps[k] < kLongStep * mean) odd += 1.0;
    ends.push_back(k);
  }
  const auto all = static_cast<double>(steps.size());
  const double inside = all - static_cast<double>(ends.size());
  if (inside < kShortShare * all || odd > kOddShare * all || ends.size() < kBurstsMin) {
    return std::nullopt;
  }
  for (const std::vector<double>& column : readings) {
    if (!changes_evenly(column, steps, mean)) return std::nullopt;
  }

  std::vector<double> intervals, sizes;
  for (std::size_t b = 1; b < ends.size(); ++b) {
    intervals.push_back(arrivals[ends[b]] - arrivals[ends[b - 1]]);
    sizes.push_back(static_cast<double>(ends[b] - ends[b - 1]));
  }
  BurstClock clock;
  clock.interval = median(intervals);
  const double usual = median(sizes);
  clock.rows = static_cast<int>(usual);
  const auto equal = static_cast<double>(std::ranges::count(sizes, usual));
  const bool is_regular = equal >= kRegularShare * static_cast<double>(sizes.size());
  const std::vector<BurstTrain> trains = split_at_pauses(arrivals, ends, mean, clock.interval);
  const auto longest = std::ranges::max_element(
      trains, {}, [](const BurstTrain& train) { return train.ends.size(); });
  clock.period = median_slope(arrivals, longest->ends);
  clock.period += period_correction(arrivals, trains, clock.period);
  if (!(clock.period > 0.0)) return std::nullopt;
  std::vector<double> deviations;
  for (std::size_t i = 0; i < trains.size(); ++i) {
    const std::vector<double> starts = clock_starts(arrivals, trains[i], clock.period);
    const double spread = is_regular ? kRegularSpread : kUnequalSpread;
    if (spread_of_medians(starts) > spread * clock.period) return std::nullopt;
    const double start = median(starts);
    for (const double each : starts) deviations.push_back(std::abs(each - start));
    const std::size_t end = i + 1 < trains.size() ? trains[i + 1].first : arrivals.size();
    for (std::size_t k = trains[i].first; k < end; ++k) {
      clock.times.push_back(start + clock.period * static_cast<double>(k));
    }
  }
  if (!std::ranges::is_sorted(clock.times)) return std::nullopt;
  std::ranges::sort(deviations);
  clock.jitter_p99 = deviations[99 * (deviations.size() - 1) / 100];
  clock.jitter_max = deviations.back();
  return clock;
}

}  // namespace service
