#include "service/recordings/row_times.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include "proto/text/input_error.hpp"
#include "service/recordings/rounded_clock.hpp"
#include "service/text/column_statistics.hpp"
#include "service/text/number_format.hpp"

namespace service {
namespace {

constexpr double kGapMin = 1.5;  // [periods]: after a longer step, samples are missing

/// Rounds a number to nine significant digits, e.g. 0.00099999999999 s to 0.001 s.
double round_digits(double value) { return std::stod(format_number(value, 9)); }

double median_step(const std::vector<double>& times) {
  std::vector<double> steps(times.size() - 1);
  for (std::size_t k = 0; k < steps.size(); ++k) steps[k] = times[k + 1] - times[k];
  return median(std::move(steps));
}

/// Returns the usual time between two rows, their median time step. If more than one step in ten
/// would be a gap, sensors have times of their own; then returns the shortest median time between
/// two readings of a sensor.
double usual_step(const proto::CsvTable& table, const ColumnIndices& indices,
                  const std::vector<double>& times, double step) {
  std::ptrdiff_t longer = 0;
  for (std::size_t k = 1; k < times.size(); ++k) {
    longer += times[k] - times[k - 1] > kGapMin * step ? 1 : 0;
  }
  if (10 * longer <= std::ssize(times)) return step;
  double shortest = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < table.values.size(); ++i) {
    if (!indices.is_reading(i)) continue;
    std::vector<double> own;
    for (std::size_t k = 0; k < times.size(); ++k) {
      if (!std::isnan(table.values[i][k])) own.push_back(times[k]);
    }
    if (own.size() > 1) shortest = std::min(shortest, median_step(own));
  }
  return std::isfinite(shortest) ? shortest : step;
}

/// Checks whether samples are missing between rows k − 1 and k. A late time stamp counts as jitter
/// if the next one is on time again, and so does the stamp after an early one.
bool is_gap(const std::vector<double>& times, std::size_t k, double period) {
  constexpr double kTwoPeriods = 2.5 + 1e-6;  // longest time of two periods with jitter
  if (times[k] - times[k - 1] <= kGapMin * period) return false;
  if (k >= 2 && times[k] - times[k - 2] <= kTwoPeriods * period) return false;
  return k + 1 >= times.size() || times[k + 1] - times[k - 1] > kTwoPeriods * period;
}

/// Changes of the motor commands between successive rows of a table.
class CommandChanges {
 public:
  CommandChanges(const proto::CsvTable& table, const RecordingFormat& format, int first_control) {
    for (std::size_t i = 0; i < format.controls.size(); ++i) {
      commands_.push_back(&table.values[static_cast<std::size_t>(first_control) + i]);
      double largest = 0.0;
      for (const double value : *commands_.back()) {
        if (!std::isnan(value)) largest = std::max(largest, std::abs(value));
      }
      largest_.push_back(largest);
    }
  }

  /// Returns the command change from row k − 1 to row k with `missing` rows between them.
  estimator::CommandChange at(std::size_t k, int missing) const {
    constexpr std::size_t kRows = estimator::kCommandRowsPerSide;
    estimator::CommandChange change;
    for (std::size_t i = 0; i < commands_.size(); ++i) {
      const std::vector<double>& command = *commands_[i];
      estimator::NeighbourCommands before, after;
      for (std::size_t j = 0; j < std::min(kRows, k); ++j) before.push_back(command[k - 1 - j]);
      for (std::size_t j = k; j < std::min(k + kRows, command.size()); ++j) {
        after.push_back(command[j]);
      }
      estimator::update_command_change(before, after, missing, largest_[i], change);
    }
    return change;
  }

 private:
  std::vector<const std::vector<double>*> commands_;
  std::vector<double> largest_;
};

/// Returns the number of rows that are missing between rows k − 1 and k, from their time stamps.
int missing_before(const std::vector<double>& times, std::size_t k, double period) {
  if (!is_gap(times, k, period)) return 0;
  return std::max(1, static_cast<int>(std::lround((times[k] - times[k - 1]) / period)) - 1);
}

/// Checks whether a duration [periods] is close to a whole number.
bool is_whole(double periods) {
  constexpr double kTolerance = 0.25;
  return std::abs(periods - std::round(periods)) <= kTolerance;
}

/// Splits the rows into segments at gaps, at changes of the segment column and behind rows of
/// unknown control. With uniform sampling, it also splits at missing rows whose duration is not a
/// whole number of periods.
void cut(const proto::CsvTable& table, const CommandChanges& commands, double period,
         int segment_request, const std::vector<std::size_t>& unknown_controls, RowTimes& result) {
  const std::vector<double>& times = result.stamps;
  const std::vector<double>* marks =
      segment_request < 0 ? nullptr : &table.values[static_cast<std::size_t>(segment_request)];
  std::size_t first = 0;
  std::vector<int> places = {0};
  MissingRowCounts holes;
  for (std::size_t k = 1; k <= times.size(); ++k) {
    const bool end = k == times.size();
    const int missing = end ? 0 : missing_before(times, k, period);
    const double duration = end ? 0.0 : times[k] - times[k - 1];
    const int read = 2 * static_cast<int>(k - first) - places.back() - 1;  // minus those missing
    const bool gap = missing > 0 && (!estimator::can_continue_across_gap(
                                         duration, missing, commands.at(k, missing), read) ||
                                     (result.summary.steady_clock && !is_whole(duration / period)));
    const bool mark = !end && ((marks != nullptr && (*marks)[k] != (*marks)[k - 1]) ||
                               std::ranges::binary_search(unknown_controls, k - 1));
    if (gap) result.summary.gaps.push_back({table.lines[k], times[k - 1], duration});
    if (!end && !gap && !mark) {
      places.push_back(places.back() + 1 + missing);
      holes.count += missing > 0 ? 1 : 0;
      holes.rows += missing;
      continue;
    }
    const int count = static_cast<int>(k - first);
    if (count >= kSegmentSamplesMin) {
      result.segments.push_back({static_cast<int>(first), count, times[first], places});
      result.summary.holes.count += holes.count;
      result.summary.holes.rows += holes.rows;
    } else {
      result.summary.dropped_rows += count;
    }
    first = k;
    places = {0};
    holes = {};
  }
}

/// Returns the sampling period by linear regression of time on sample number over all segments.
double pooled_period(const std::vector<double>& times, const std::vector<TableSegment>& segments) {
  double covariance = 0.0;
  double variance = 0.0;
  for (const TableSegment& stretch : segments) {
    double middle = 0.0;
    for (const int place : stretch.places) middle += place;
    middle /= stretch.count;
    const auto first = static_cast<std::size_t>(stretch.first);
    for (std::size_t k = 0; k < stretch.places.size(); ++k) {
      const double from_middle = stretch.places[k] - middle;
      covariance += from_middle * (times[first + k] - times[first]);
      variance += from_middle * from_middle;
    }
  }
  return covariance / variance;
}

/// Returns the mean time step between rows that have no missing rows between them. If there are no
/// such rows, returns `median`.
double period_between_holes(const std::vector<double>& times, double median) {
  double duration = 0.0, rows = 0.0;
  for (std::size_t k = 1; k < times.size(); ++k) {
    if (is_gap(times, k, median)) continue;
    duration += times[k] - times[k - 1];
    rows += 1.0;
  }
  return rows > 0.0 ? duration / rows : median;
}

/// Sets the start time of each segment by fitting uniform times to the time stamps. Returns the
/// largest deviation of a time stamp from uniform times [periods].
double fit_grids(const std::vector<double>& times, double period,
                 std::vector<TableSegment>& segments) {
  double worst = 0.0;
  for (TableSegment& stretch : segments) {
    const auto first = static_cast<std::size_t>(stretch.first);
    const auto offset = [&](std::size_t k) {
      return times[first + k] - times[first] - stretch.places[k] * period;
    };
    double mean = 0.0;
    for (std::size_t k = 0; k < stretch.places.size(); ++k) mean += offset(k) / stretch.count;
    for (std::size_t k = 0; k < stretch.places.size(); ++k) {
      worst = std::max(worst, std::abs(offset(k) - mean) / period);
    }
    stretch.start = times[first] + std::round(mean * 1e9) * 1e-9;
  }
  return worst;
}

[[noreturn]] void refuse_short(const proto::CsvTable& table, const RowTimes& time) {
  std::string what =
      table.path + ": the recording is too short: " + std::to_string(table.row_count()) + " rows";
  if (!time.summary.gaps.empty())
    what += " with " + std::to_string(time.summary.gaps.size()) + " gaps";
  throw proto::InputError(
      what + ", and no segment without gaps has " + std::to_string(kSegmentSamplesMin) +
      " samples. Record longer" +
      (time.summary.gaps.empty() ? "" : ", or " + constant_rate_advice(time.stamps)));
}

/// Checks the sampling period. Throws if only a wrong unit of time explains it.
void check_period(const proto::CsvTable& table, const RecordingFormat& format, double period) {
  if (period >= kSamplingPeriodMin && period <= kSamplingPeriodMax) return;
  const std::string what = table.path + ": the sampling period would be " +
                           format_number(period, 3) + " s, " +
                           (period > kSamplingPeriodMax ? "too long to resolve an oscillation"
                                                        : "shorter than any encoder's");
  throw proto::InputError(
      what +
      (format.time_column.empty()
           ? "; correct rate_hz in the rig file's time { }"
           : "; check the unit of column \"" + format.time_column +
                 "\": write unit: SECOND, MILLISECOND, MICROSECOND or NANOSECOND in time { }"));
}

/// Returns a time since 1970-01-01 [s] as a date in UTC.
std::string format_date(double time) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(
      std::chrono::sys_time<std::chrono::duration<double>>(std::chrono::duration<double>(time)));
  const auto day = std::chrono::floor<std::chrono::days>(seconds);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(seconds - day);
  return fmt::format("{:04}-{:02}-{:02} {:02}:{:02}:{:02} UTC", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                     clock.hours().count(), clock.minutes().count(), clock.seconds().count());
}

}  // namespace

std::string make_times_relative(const RecordingFormat& format, const ColumnIndices& indices,
                                proto::CsvTable& table) {
  constexpr double kRecent = 1e9;     // [s], September 2001
  constexpr double kDateMax = 2.1e9;  // [s], July 2036; larger times count from another epoch
  if (indices.time < 0) return "";
  std::vector<double>& times = table.values[static_cast<std::size_t>(indices.time)];
  const auto is_read = [](double time) { return std::isfinite(time); };
  const auto found = std::ranges::find_if(times, is_read);
  if (found == times.end() || *found * format.time_scale < kRecent) return "";
  const double first = *found, start = first * format.time_scale;
  for (double& time : times) time -= first;
  return "times count from the first time stamp, " +
         (start < kDateMax ? format_date(start) : format_number(start, 9) + " s");
}

void keep_rows_in_window(const TimeWindow& window, const RecordingFormat& format,
                         const ColumnIndices& indices, proto::CsvTable& table) {
  if (std::isinf(window.from) && std::isinf(window.to)) return;
  const auto rows = static_cast<std::size_t>(table.row_count());
  std::vector<double> times(rows), steps;
  double last = -std::numeric_limits<double>::infinity();
  for (std::size_t k = 0; k < rows; ++k) {
    const double time = indices.time < 0 ? static_cast<double>(k) / format.rate
                                         : table.values[static_cast<std::size_t>(indices.time)][k] *
                                               format.time_scale;
    if (time > last && std::isfinite(last)) steps.push_back(time - last);
    if (std::isfinite(time)) last = time;
    times[k] = last;
  }
  // Uniform times, which differ a little from the time stamps, decide on the rows at either end.
  const double slack = steps.empty() ? 0.0 : 0.5 * median(std::move(steps));
  std::vector<std::size_t> kept;
  for (std::size_t k = 0; k < rows; ++k) {
    if (times[k] >= window.from - slack && times[k] <= window.to + slack) kept.push_back(k);
  }
  if (std::ssize(kept) >= kSegmentSamplesMin) proto::keep_rows(kept, table);
}

RowTimes find_row_times(const proto::CsvTable& table, const RecordingFormat& format,
                        const ColumnIndices& indices, const RowClock& clock) {
  const std::vector<double>& times = clock.times;
  constexpr double kLostShare = 0.01;  // share of rows that may be dropped for a uniform grid
  constexpr double kUnitMax = 0.5;     // largest unit of rounded time stamps [periods]
  RowTimes result;
  result.stamps = times;
  if (table.row_count() < kSegmentSamplesMin) refuse_short(table, result);
  const double step = median_step(times);
  const double usual = usual_step(table, indices, times, step);
  check_period(table, format, usual);
  const CommandChanges commands(table, format, indices.first_control);
  const double period = usual > step ? usual : period_between_holes(times, step);
  RowTimes free = result;
  free.summary.steady_clock = false;
  cut(table, commands, period, indices.segment, clock.unknown_controls, free);
  if (free.segments.empty()) refuse_short(table, free);
  cut(table, commands, period, indices.segment, clock.unknown_controls, result);
  const double lost = result.summary.dropped_rows - free.summary.dropped_rows;
  if (indices.time < 0 || lost <= kLostShare * table.row_count()) {
    result.summary.period = round_digits(pooled_period(result.stamps, result.segments));
    result.summary.jitter_max = fit_grids(result.stamps, result.summary.period, result.segments);
    if (indices.time < 0 || result.summary.jitter_max <= format.jitter_tolerance) return result;
    const double unit = rounding_unit(result.stamps);
    if (unit <= kUnitMax * period && result.summary.jitter_max * result.summary.period <= unit) {
      result.summary.notes.push_back("time stamps are rounded to " + format_number(1e3 * unit) +
                                     " ms; rows are taken as evenly spaced, at " +
                                     format_number(1.0 / result.summary.period, 6) + " Hz");
      return result;
    }
  }
  free.summary.period = round_digits(pooled_period(free.stamps, free.segments));
  std::vector<TableSegment> grids = free.segments;
  free.summary.jitter_max = fit_grids(free.stamps, free.summary.period, grids);
  free.summary.holes = {};  // rows have their own times
  return free;
}

}  // namespace service
