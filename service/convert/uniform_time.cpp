#include "service/convert/uniform_time.hpp"

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <sstream>

#include "proto/text/input_error.hpp"

namespace service {
namespace {

std::string text_of(double value, int digits = 6) {
  std::ostringstream text;
  text << std::setprecision(digits) << value;
  return text.str();
}

/// Rounds to nine significant digits: 0.00099999999999 s, a sum of rounding errors, is 0.001 s.
double round_digits(double value) { return std::stod(text_of(value, 9)); }

std::vector<double> read_times(const proto::CsvTable& table, const RecordingFormat& format,
                               int request) {
  std::vector<double> times(static_cast<std::size_t>(table.row_count()));
  if (request < 0) {
    for (std::size_t k = 0; k < times.size(); ++k) times[k] = static_cast<double>(k) / format.rate;
    return times;
  }
  times = table.values[static_cast<std::size_t>(request)];
  for (double& time : times) time *= format.time_scale;
  for (std::size_t k = 1; k < times.size(); ++k) {
    if (times[k] > times[k - 1] && std::isfinite(times[k])) continue;
    const std::string what = times[k] == times[k - 1]
                                 ? "time stands still at " + text_of(times[k], 9) + " s"
                                 : "time runs backwards from " + text_of(times[k - 1], 9) +
                                       " s to " + text_of(times[k], 9) + " s";
    throw proto::InputError(
        table.where(static_cast<int>(k), request) + ": column '" + format.time_column +
        "': " + what + "; sort or remove the rows, or split the file where a new recording begins");
  }
  return times;
}

double median_step(const std::vector<double>& times) {
  std::vector<double> steps(times.size() - 1);
  for (std::size_t k = 0; k < steps.size(); ++k) steps[k] = times[k + 1] - times[k];
  const auto middle = steps.begin() + static_cast<std::ptrdiff_t>(steps.size() / 2);
  std::nth_element(steps.begin(), middle, steps.end());
  return *middle;
}

/// Whether samples are missing between rows k − 1 and k. A late time stamp whose successor is on
/// time again is jitter.
bool is_gap(const std::vector<double>& times, std::size_t k, double period) {
  if (times[k] - times[k - 1] <= 1.5 * period) return false;
  return k + 1 >= times.size() || times[k + 1] - times[k - 1] > 2.5 * period;
}

/// Cuts the rows into stretches at gaps and changes of the segment column.
void cut(const proto::CsvTable& table, const std::vector<double>& times, double period,
         int segment_request, UniformTime& result) {
  const std::vector<double>* marks =
      segment_request < 0 ? nullptr : &table.values[static_cast<std::size_t>(segment_request)];
  std::size_t first = 0;
  for (std::size_t k = 1; k <= times.size(); ++k) {
    const bool end = k == times.size();
    const bool gap = !end && is_gap(times, k, period);
    const bool mark = !end && marks != nullptr && (*marks)[k] != (*marks)[k - 1];
    if (gap) result.gaps.push_back({table.lines[k], times[k - 1], times[k] - times[k - 1]});
    if (!end && !gap && !mark) continue;
    const int count = static_cast<int>(k - first);
    if (count >= kSegmentSamplesMin) {
      result.stretches.push_back({static_cast<int>(first), count, times[first]});
    } else {
      result.dropped_rows += count;
    }
    first = k;
  }
}

/// Least-squares slope of time over row number, pooled over the stretches.
double pooled_period(const std::vector<double>& times, const std::vector<Stretch>& stretches) {
  double covariance = 0.0;
  double variance = 0.0;
  for (const Stretch& stretch : stretches) {
    const double middle = 0.5 * (stretch.count - 1);
    const double reference = times[static_cast<std::size_t>(stretch.first)];
    for (int k = 0; k < stretch.count; ++k) {
      const double time = times[static_cast<std::size_t>(stretch.first + k)] - reference;
      covariance += (k - middle) * time;
      variance += (k - middle) * (k - middle);
    }
  }
  return covariance / variance;
}

/// Row farthest from the grid, and how far [periods].
struct Jitter {
  int row = 0;
  double periods = 0.0;
};

/// Sets the stretches' grids and returns the worst time stamp of all.
Jitter fit_grids(const std::vector<double>& times, double period, std::vector<Stretch>& stretches) {
  Jitter worst;
  for (Stretch& stretch : stretches) {
    const double reference = times[static_cast<std::size_t>(stretch.first)];
    const auto offset = [&](int k) {
      return times[static_cast<std::size_t>(stretch.first + k)] - reference - k * period;
    };
    double mean = 0.0;
    for (int k = 0; k < stretch.count; ++k) mean += offset(k) / stretch.count;
    for (int k = 0; k < stretch.count; ++k) {
      const double periods = std::abs(offset(k) - mean) / period;
      if (periods > worst.periods) worst = {stretch.first + k, periods};
    }
    stretch.start = reference + std::round(mean * 1e9) * 1e-9;
  }
  return worst;
}

[[noreturn]] void refuse_jitter(const proto::CsvTable& table, const RecordingFormat& format,
                                int request, double period, const Jitter& worst) {
  throw proto::InputError(
      table.where(worst.row, request) + ": irregular sampling: with a period of " +
      text_of(period * 1e3) + " ms this time stamp lies " + text_of(worst.periods * 100.0, 3) +
      " % of a period (" + text_of(worst.periods * period * 1e3, 3) +
      " ms) from the uniform grid, " + "allowed are " +
      text_of(format.jitter_tolerance * 100.0, 3) +
      " %; record with a steady clock or resample the file; if only the stamps " +
      "jitter and the sampling was steady, raise jitter_tolerance in time { }");
}

[[noreturn]] void refuse_short(const proto::CsvTable& table, const UniformTime& time) {
  std::string what =
      table.path + ": the record is too short: " + std::to_string(table.row_count()) + " rows";
  if (!time.gaps.empty()) what += " with " + std::to_string(time.gaps.size()) + " gaps";
  throw proto::InputError(what + ", and no stretch without a gap has " +
                          std::to_string(kSegmentSamplesMin) + " samples; record longer");
}

/// Refuses a sampling period that only a wrong unit of time explains.
void check_period(const proto::CsvTable& table, const RecordingFormat& format, double period) {
  if (period >= kSamplingPeriodMin && period <= kSamplingPeriodMax) return;
  const std::string what =
      table.path + ": samples would be " + text_of(period, 3) + " s apart, " +
      (period > kSamplingPeriodMax ? "too far to see a swing" : "closer than any encoder is read");
  throw proto::InputError(
      what + (format.time_column.empty()
                  ? "; correct rate_hz in the rig file's time { }"
                  : "; check the unit of column '" + format.time_column +
                        "': write unit: SECOND, MILLISECOND or MICROSECOND in time { }"));
}

}  // namespace

UniformTime find_uniform_time(const proto::CsvTable& table, const RecordingFormat& format,
                              int time_request, int segment_request) {
  UniformTime result;
  if (table.row_count() < kSegmentSamplesMin) refuse_short(table, result);
  const std::vector<double> times = read_times(table, format, time_request);
  const double median = median_step(times);
  check_period(table, format, median);
  cut(table, times, median, segment_request, result);
  if (result.stretches.empty()) refuse_short(table, result);
  result.period = round_digits(pooled_period(times, result.stretches));
  const Jitter worst = fit_grids(times, result.period, result.stretches);
  if (time_request >= 0 && worst.periods > format.jitter_tolerance) {
    refuse_jitter(table, format, time_request, median, worst);
  }
  result.jitter_max = worst.periods;
  return result;
}

}  // namespace service
