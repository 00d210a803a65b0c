#include "service/recordings/row_clock.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "proto/text/input_error.hpp"
#include "service/recordings/burst_clock.hpp"
#include "service/recordings/rounded_clock.hpp"
#include "service/text/number_format.hpp"

namespace service {
namespace {

// Times that differ by rounding errors only are equal.
bool is_same_time(double a, double b) {
  return std::abs(a - b) <= 4.0 * std::numeric_limits<double>::epsilon() * std::abs(b);
}

/// Checks that the rows come from several sources with different columns, and that the rows of each
/// source are in order of time. Such rows may be sorted. In other tables, a step back in time is an
/// error in the time stamps or the begin of another recording.
bool has_ordered_sources(int time, const proto::CsvTable& table) {
  const std::vector<double>& times = table.values[static_cast<std::size_t>(time)];
  std::map<std::vector<bool>, double> last_times;
  std::vector<bool> has_value(table.values.size());
  for (std::size_t k = 0; k < times.size(); ++k) {
    for (std::size_t i = 0; i < has_value.size(); ++i) {
      has_value[i] = !std::isnan(table.values[i][k]);
    }
    const auto [last, is_new] = last_times.try_emplace(has_value, times[k]);
    if (!is_new && !(times[k] > last->second)) return false;
    last->second = times[k];
  }
  return last_times.size() > 1;
}

bool is_number(double value) { return !std::isnan(value); }

/// Checks whether a control column has empty cells after its first value. The control of the last
/// row has no effect and is often missing.
bool have_commands_own_rows(const RecordingFormat& format, const ColumnIndices& indices,
                            const proto::CsvTable& table) {
  for (std::size_t i = 0; i < format.controls.size(); ++i) {
    if (format.controls[i].is_prescribed) continue;
    const auto& values = table.values[static_cast<std::size_t>(indices.first_control) + i];
    const auto first = std::ranges::find_if(values, is_number);
    if (first != values.end() && !std::all_of(first, values.end() - 1, is_number)) return true;
  }
  return false;
}

/// Removes the rows without readings and commands, which belong to other sources of the log.
/// @return number of removed rows
std::size_t remove_empty_rows(const ColumnIndices& indices, proto::CsvTable& table) {
  std::vector<std::size_t> rows;
  for (std::size_t k = 0; k < table.lines.size(); ++k) {
    const auto first = table.values.begin() + indices.first_angle;
    if (std::any_of(first, table.values.end(), [&](const auto& v) { return is_number(v[k]); })) {
      rows.push_back(k);
    }
  }
  const std::size_t removed = table.lines.size() - rows.size();
  if (removed > 0) proto::keep_rows(rows, table);
  return removed;
}

/// Returns the rows in which at least one sensor has a reading.
std::vector<std::size_t> rows_with_readings(const ColumnIndices& indices,
                                            const proto::CsvTable& table) {
  std::vector<std::size_t> rows;
  for (std::size_t k = 0; k < table.lines.size(); ++k) {
    for (std::size_t i = 0; i < table.values.size(); ++i) {
      if (!indices.is_reading(i) || std::isnan(table.values[i][k])) continue;
      rows.push_back(k);
      break;
    }
  }
  return rows;
}

/// Finds the lost values of a control column. In a column that has a value in most rows with
/// readings, the other values are lost. In other columns, a value applies until the next one.
/// @param reading_rows  rows with readings
/// @param[in,out] unknown  receives the rows whose lost value is not between two equal values
/// @return number of lost values
std::size_t find_lost_controls(const std::vector<double>& values,
                               const std::vector<std::size_t>& reading_rows,
                               std::vector<std::size_t>& unknown) {
  constexpr double kMostRows = 0.5;  // smallest share of rows with a value
  const auto with_value = std::ranges::count_if(
      reading_rows, [&](std::size_t row) { return is_number(values[row]); });
  if (!(static_cast<double>(with_value) > kMostRows * static_cast<double>(reading_rows.size()))) {
    return 0;
  }
  std::size_t lost = 0, last = values.size();  // last row with a value
  for (std::size_t k = 0; k < values.size(); ++k) {
    if (!is_number(values[k])) continue;
    for (std::size_t row = last + 1; last < k && row < k; ++row) {
      ++lost;
      if (values[last] != values[k]) unknown.push_back(row);
    }
    last = k;
  }
  // The control of the last row has no effect.
  for (std::size_t row = last + 1; row + 1 < values.size(); ++row, ++lost) unknown.push_back(row);
  return lost;
}

/// Extends each control value to the next one, and removes the rows before the first value. Notes
/// columns with empty cells, and lists the rows with unknown controls.
void hold_commands(const RecordingFormat& format, const ColumnIndices& indices,
                   proto::CsvTable& table, RowClock& clock) {
  const std::vector<std::size_t> reading_rows = rows_with_readings(indices, table);
  std::size_t first = 0;
  for (std::size_t i = 0; i < format.controls.size(); ++i) {
    std::vector<double>& values = table.values[static_cast<std::size_t>(indices.first_control) + i];
    const auto known = std::ranges::find_if(values, is_number);
    if (known == values.end()) {
      throw proto::InputError(
          table.where(0, indices.first_control + static_cast<int>(i)) + ": column \"" +
          format.controls[i].column +
          "\" has no values. Name the column of the motor's command in the rig file's control { }");
    }
    const auto count = std::ranges::count_if(values, is_number);
    const bool is_held = !std::all_of(known, values.end() - 1, is_number);
    const std::size_t before = clock.unknown_controls.size();
    const std::size_t lost =
        format.controls[i].is_prescribed
            ? 0
            : find_lost_controls(values, reading_rows, clock.unknown_controls);
    const std::size_t unknown = clock.unknown_controls.size() - before;
    const auto missing = static_cast<std::size_t>(known - values.begin());
    std::fill(values.begin(), known, *known);
    for (std::size_t k = missing + 1; k < values.size(); ++k) {
      if (!is_number(values[k])) values[k] = values[k - 1];
    }
    if (format.controls[i].is_prescribed) continue;  // the column of a reading
    first = std::max(first, missing);
    if (!is_held) continue;
    std::string note = "column \"" + format.controls[i].column + "\" has values in " +
                       std::to_string(count) + " of " + std::to_string(values.size()) + " rows; ";
    if (lost == 0) {
      note += "each value applies until the next one";
    } else {
      note += std::to_string(lost - unknown) +
              " missing values are between equal values and are set to them";
      if (unknown > 0) {
        note += "; the recording is split at the other " + std::to_string(unknown) +
                ", because the command changes there";
      }
    }
    clock.notes.push_back(std::move(note));
  }
  std::ranges::sort(clock.unknown_controls);
  if (first == 0) return;
  std::erase_if(clock.unknown_controls, [&](std::size_t row) { return row < first; });
  for (std::size_t& row : clock.unknown_controls) row -= first;
  clock.notes.push_back("rows before the first command are left out: " + std::to_string(first));
  std::vector<std::size_t> rows(table.lines.size() - first);
  std::iota(rows.begin(), rows.end(), first);
  proto::keep_rows(rows, table);
}

/// Checks whether two sensors have most of their readings in rows without the other's reading.
bool have_own_times(const ColumnIndices& indices, const proto::CsvTable& table) {
  std::vector<const std::vector<double>*> columns;
  for (std::size_t i = 0; i < table.values.size(); ++i) {
    if (indices.is_reading(i)) columns.push_back(&table.values[i]);
  }
  for (std::size_t i = 0; i < columns.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      int first = 0, second = 0, both = 0;
      for (std::size_t k = 0; k < table.lines.size(); ++k) {
        const bool has_first = !std::isnan((*columns[i])[k]);
        const bool has_second = !std::isnan((*columns[j])[k]);
        first += has_first ? 1 : 0;
        second += has_second ? 1 : 0;
        both += has_first && has_second ? 1 : 0;
      }
      if (2 * both < std::min(first, second)) return true;
    }
  }
  return false;
}

/// Replaces rounded time stamps by the sample clock, in tables whose rows all have readings.
void recover_rounded_rows(const std::vector<double>& stamps,
                          const std::vector<std::vector<double>>& readings, RowClock& clock) {
  if (stamps.size() < clock.times.size()) return;
  const std::vector<double> times = recover_rounded_clock(stamps, readings);
  if (times.empty()) return;
  clock.times = times;
  clock.notes.push_back("time stamps are rounded to " + format_number(1e3 * rounding_unit(stamps)) +
                        " ms; a regular clock within half of this replaces them");
}

/// Replaces the arrival times of rows with readings by the sample clock, if they come in bursts.
void recover_sample_clock(const ColumnIndices& indices, const std::vector<std::size_t>& rows,
                          proto::CsvTable& table, RowClock& clock) {
  std::vector<double> arrivals;
  for (const std::size_t row : rows) arrivals.push_back(clock.times[row]);
  std::vector<std::vector<double>> readings;
  for (std::size_t i = 0; i < table.values.size(); ++i) {
    if (!indices.is_reading(i)) continue;
    readings.emplace_back();
    for (const std::size_t row : rows) readings.back().push_back(table.values[i][row]);
  }
  const auto burst = recover_burst_clock(arrivals, readings);
  if (!burst) return recover_rounded_rows(arrivals, readings, clock);
  for (std::size_t k = 0; k < rows.size(); ++k) clock.times[rows[k]] = burst->times[k];
  clock.notes.push_back("rows arrive in bursts of " + std::to_string(burst->rows) + " every " +
                        format_number(1e3 * burst->interval, 3) + " ms; the sample clock of " +
                        format_number(1.0 / burst->period, 6) +
                        " Hz replaces the time stamps; the bursts arrive evenly to within " +
                        format_number(std::max(1.0, std::ceil(1e6 * burst->jitter_max)), 3) +
                        " µs");
  clock.arrival = {1e6 * burst->jitter_p99, 1e6 * burst->jitter_max};
  if (std::ranges::is_sorted(clock.times)) return;
  std::vector<std::size_t> order(clock.times.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, {}, [&](std::size_t row) { return clock.times[row]; });
  proto::keep_rows(order, table);
  std::ranges::sort(clock.times);
}

void check_times_increase(const RecordingFormat& format, int time, const proto::CsvTable& table,
                          const std::vector<double>& times, bool may_repeat) {
  for (std::size_t k = 1; k < times.size(); ++k) {
    const bool repeats = is_same_time(times[k], times[k - 1]);
    const bool is_later = times[k] > times[k - 1] && !repeats;
    if (std::isfinite(times[k]) && (is_later || (repeats && may_repeat))) continue;
    const std::string stamp = format_number(times[k], 9) + " s";
    throw proto::InputError(
        table.where(static_cast<int>(k), time) + ": column \"" + format.time_column + "\": " +
        (repeats ? "time stamp " + stamp + " is repeated with other values; remove the row, or " +
                       constant_rate_advice(times)
                 : "time runs backwards from " + format_number(times[k - 1], 9) + " s to " + stamp +
                       "; sort or remove the rows, "
                       "or split the file where a new recording begins"));
  }
}

/// Describes the rates of columns with time stamps of their own.
std::string describe_column_rates(const RecordingFormat& format, const ColumnIndices& indices,
                                  const proto::CsvTable& table, const std::vector<double>& times) {
  std::string rates;
  for (std::size_t i = 0; i < format.angles.size(); ++i) {
    std::vector<double> own;
    const auto& values = table.values[static_cast<std::size_t>(indices.first_angle) + i];
    for (std::size_t k = 0; k < times.size(); ++k) {
      if (!std::isnan(values[k])) own.push_back(times[k]);
    }
    const double step = mean_time_step(own);
    if (!(step > 0.0)) continue;
    rates += (rates.empty() ? "" : ", ") + ("\"" + format.angles[i].column + "\" at ") +
             format_number(1.0 / step, 3) + " Hz";
  }
  return "columns have time stamps of their own (" + rates +
         "); each reading is used at its own time";
}

}  // namespace

int sort_rows(int time, proto::CsvTable& table) {
  const std::vector<double>& times = table.values[static_cast<std::size_t>(time)];
  int late = 0;
  double latest = -std::numeric_limits<double>::infinity();
  for (const double each : times) {
    late += each < latest ? 1 : 0;
    latest = std::max(latest, each);
  }
  if (late == 0) return 0;
  std::vector<std::size_t> order(times.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, {}, [&](std::size_t row) { return times[row]; });
  proto::keep_rows(order, table);
  return late;
}

int merge_equal_times(int time, proto::CsvTable& table) {
  const auto at = static_cast<std::size_t>(time);
  // Compares row k with an earlier row: how many columns have a value in both, and whether one of
  // these values differs.
  const auto compare = [&](std::size_t earlier, std::size_t k) {
    struct {
      int both = 0;
      bool differs = false;
    } found;
    for (std::size_t i = 0; i < table.values.size(); ++i) {
      const std::vector<double>& values = table.values[i];
      if (i == at || std::isnan(values[earlier]) || std::isnan(values[k])) continue;
      ++found.both;
      found.differs = found.differs || values[earlier] != values[k];
    }
    return found;
  };
  const std::vector<double> times = table.values[at];
  bool are_equal = true;
  for (std::size_t k = 1; k < times.size(); ++k) {
    if (is_same_time(times[k], times[k - 1]) && compare(k - 1, k).differs) are_equal = false;
  }
  std::vector<std::size_t> kept = {};
  for (std::size_t k = 0; k < times.size(); ++k) {
    if (!kept.empty() && is_same_time(times[k], times[kept.back()])) {
      const auto found = compare(kept.back(), k);
      if (found.both == 0 || (are_equal && !found.differs)) {
        for (std::vector<double>& values : table.values) {
          if (std::isnan(values[kept.back()])) values[kept.back()] = values[k];
        }
        continue;
      }
    }
    kept.push_back(k);
  }
  const auto merged = static_cast<int>(times.size() - kept.size());
  if (merged > 0) proto::keep_rows(kept, table);
  return merged;
}

std::string constant_rate_advice(const std::vector<double>& times) {
  // The mean is uncertain by a few rows, for example by an incomplete burst at either end.
  constexpr double kUncertainRows = 4.0;
  const double step = mean_time_step(times);
  if (!(step > 0.0)) return "write time { rate_hz: ... } if the rows were sampled at a known rate";
  const double tolerance = kUncertainRows / static_cast<double>(times.size());
  double rate = 1.0 / step;
  for (int digits = 1; digits <= 3; ++digits) {
    const double unit = std::pow(10.0, std::floor(std::log10(1.0 / step)) + 1.0 - digits);
    rate = unit * std::round(1.0 / step / unit);
    if (std::abs(rate * step - 1.0) <= tolerance) break;
  }
  return "if the rows were sampled evenly and none is lost, write time { rate_hz: " +
         format_number(rate, 3) + " } in the rig file instead of the time column";
}

RowClock arrange_rows(const RecordingFormat& format, const ColumnIndices& indices,
                      proto::CsvTable& table) {
  RowClock clock;
  if (indices.time >= 0) {
    const std::vector<double>& stamps = table.values[static_cast<std::size_t>(indices.time)];
    if (!std::ranges::is_sorted(stamps) && has_ordered_sources(indices.time, table)) {
      clock.notes.push_back(std::to_string(sort_rows(indices.time, table)) +
                            " rows were out of order and are sorted by time");
    }
    if (const int merged = merge_equal_times(indices.time, table); merged > 0) {
      clock.notes.push_back(std::to_string(merged) +
                            " rows have the time of the row before and are merged with it");
    }
  }
  const bool are_apart = have_own_times(indices, table);
  const bool is_held = have_commands_own_rows(format, indices, table);
  if (indices.time >= 0 && (are_apart || is_held)) {
    if (const std::size_t removed = remove_empty_rows(indices, table); removed > 0) {
      clock.notes.push_back("rows without readings and commands are left out: " +
                            std::to_string(removed));
    }
  }
  hold_commands(format, indices, table, clock);
  clock.times.resize(table.lines.size());
  if (indices.time < 0) {
    for (std::size_t k = 0; k < clock.times.size(); ++k) {
      clock.times[k] = (table.first_row + static_cast<double>(k)) / format.rate;
    }
    return clock;
  }
  const std::vector<double>& stamps = table.values[static_cast<std::size_t>(indices.time)];
  for (std::size_t k = 0; k < stamps.size(); ++k) clock.times[k] = format.time_scale * stamps[k];
  check_times_increase(format, indices.time, table, clock.times, true);
  const std::vector<std::size_t> rows = rows_with_readings(indices, table);
  clock.has_several = are_apart || (is_held && rows.size() < table.lines.size());
  if (!are_apart) recover_sample_clock(indices, rows, table, clock);
  check_times_increase(format, indices.time, table, clock.times, false);
  if (clock.has_several) {
    clock.notes.push_back(describe_column_rates(format, indices, table, clock.times));
  }
  return clock;
}

}  // namespace service
