#include "service/recordings/csv_recording.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <tuple>

#include "estimator/diagnostics/jumps/outliers_and_steps.hpp"
#include "estimator/math/angle_wrapping.hpp"
#include "proto/check/number_check.hpp"
#include "proto/text/csv_table.hpp"
#include "proto/text/input_error.hpp"
#include "service/recordings/counter_wrap.hpp"
#include "service/recordings/row_times.hpp"
#include "service/recordings/sensor_table_reader.hpp"
#include "service/text/number_format.hpp"

namespace service {
namespace {

// Speeds are averaged over this time, since differences of successive samples at 1 kHz are noise.
constexpr double kSpeedWindow = 0.02;  // [s]

/// Indices of the columns of a recording format among the columns requested from a table.
struct Requests {
  std::vector<proto::ColumnRequest> columns;
  TimeColumnIndices times;
  int first_angle = 0;
  int first_inertial = 0;
};

Requests make_requests(const RecordingFormat& format) {
  Requests requests;
  const auto add = [&](const std::string& name, proto::MissingCells missing) {
    requests.columns.push_back({name, missing});
    return static_cast<int>(requests.columns.size()) - 1;
  };
  if (!format.time_column.empty()) {
    requests.times.time = add(format.time_column, proto::MissingCells::kForbidden);
  }
  if (!format.segment_column.empty()) {
    requests.times.segment = add(format.segment_column, proto::MissingCells::kForbidden);
  }
  requests.first_angle = static_cast<int>(requests.columns.size());
  for (const EncoderColumn& angle : format.angles) {
    add(angle.column,
        angle.allow_missing ? proto::MissingCells::kAllowed : proto::MissingCells::kForbidden);
  }
  requests.times.first_control = static_cast<int>(requests.columns.size());
  for (const ControlColumn& control : format.controls) {
    add(control.column, proto::MissingCells::kAllowedAtTheEnd);
  }
  requests.first_inertial = static_cast<int>(requests.columns.size());
  for (const SensorColumn& column : format.inertial) {
    add(column.column, proto::MissingCells::kAllowed);
  }
  return requests;
}

/// Checks that numbers are in the range allowed in rigcal-daq recordings. NaN is accepted.
void hold_to(const proto::NumberRange& range, const proto::CsvTable& table, int request,
             const std::string& column, const std::vector<double>& values) {
  const auto wrong = std::find_if(values.begin(), values.end(), [&](double value) {
    return !std::isnan(value) && !range.holds(value);
  });
  if (wrong == values.end()) return;
  throw proto::InputError(table.where(static_cast<int>(wrong - values.begin()), request) +
                          ": column \"" + column + "\" gives " + format_number(*wrong) +
                          ", but must be " + range.text() + ". Correct or remove the row");
}

/// Importer of one angle column, converted to rad.
class AngleImport {
 public:
  AngleImport(const EncoderColumn& column, const proto::CsvTable& table, int request,
              const RowTimes& time, std::vector<std::string>& notes)
      : column_(column),
        table_(table),
        request_(request),
        angles_(unwrap_counter_column(column, table, request, time.segments, notes)) {
    for (double& angle : angles_) angle = column.scale * angle + column.offset;
    hold_to(proto::require_range("Sample.angle_rad"), table, request, column.column, angles_);
  }

  /// Unwraps angles that were recorded modulo one turn.
  void unwrap(const std::vector<double>& times, double speed_max, std::vector<std::string>& notes) {
    if (!joint_traits(column_.kind).wraps) return;
    using estimator::kWholeTurn;
    constexpr double kRangeMax = kWholeTurn * (1.0 + 1e-6);
    auto [low, high] = range();
    // False readings can lie beyond the turn.
    if (high - low > kRangeMax) {
      std::tie(low, high) = range_of(running_medians(0, static_cast<int>(angles_.size())));
    }
    if (!(high - low > std::numbers::pi && high - low <= kRangeMax)) return;
    int turns = 0;
    int jumps = 0;
    double last = angles_.front();
    double last_time = times.front();
    for (std::size_t k = 0; k < angles_.size(); ++k) {
      double& angle = angles_[k];
      const double change = angle - last;  // NaN if not observed: no jump
      const double remainder = estimator::wrap_angle_difference(change);
      if (std::abs(change) > std::numbers::pi && std::abs(change) <= kRangeMax &&
          std::abs(remainder) <=
              std::max(speed_max * std::min(times[k] - last_time, estimator::kBridgedGapMax),
                       0.1)) {
        turns -= static_cast<int>(estimator::removed_full_turns(change));
        ++jumps;
      }
      if (!std::isnan(angle)) {
        last = angle;
        last_time = times[k];
      }
      angle += kWholeTurn * turns;
    }
    if (jumps > 0) {
      notes.push_back("column \"" + column_.column + "\" was recorded modulo one turn and was " +
                      "unwrapped at " + std::to_string(jumps) + " jumps");
    }
  }

  /// Checks joint speeds. Throws if only a wrong unit explains a speed. False readings in up to
  /// kOutliersInARow rows have no speed: the estimator rejects them as outliers.
  void check_speed(const TableSegment& stretch, const RowTimes& time, double speed_max) const {
    const int window = std::max(1, static_cast<int>(std::ceil(kSpeedWindow / time.summary.period)));
    const std::vector<double> medians = running_medians(stretch.first, stretch.count);
    for (int k = 0; k + window < stretch.count; ++k) {
      const int row = stretch.first + k;
      const double duration = time.stamps[static_cast<std::size_t>(row + window)] -
                              time.stamps[static_cast<std::size_t>(row)];
      const double change = std::abs(medians[static_cast<std::size_t>(k + window)] -
                                     medians[static_cast<std::size_t>(k)]);
      const double speed = change / std::max(duration, window * time.summary.period);
      if (!(speed > speed_max)) continue;
      constexpr int kReach = static_cast<int>(estimator::kOutliersInARow);
      const int end = stretch.first + stretch.count - 1;
      refuse_speed(
          largest_step(std::max(stretch.first, row - kReach), std::min(end, row + window + kReach)),
          speed, speed_max);
    }
  }

  /// Returns the row after the largest change of the angle in rows first to last.
  int largest_step(int first, int last) const {
    int largest = first + 1;
    double change_max = 0.0;
    for (int row = first + 1; row <= last; ++row) {
      const double change = std::abs(at(row) - at(row - 1));  // NaN if not observed
      if (!(change > change_max)) continue;
      change_max = change;
      largest = row;
    }
    return largest;
  }

  /// Appends notes on data that are valid but suspicious.
  void add_notes(std::vector<std::string>& notes) const {
    const auto [low, high] = range();
    if (high == low) {
      notes.push_back("warning: column \"" + column_.column +
                      "\" never changes: is the encoder of joint \"" + column_.joint +
                      "\" connected?");
    }
    constexpr double kSevenDegrees = 7.0 * std::numbers::pi / 180.0;
    if (column_.in_degrees && high > low && high - low < kSevenDegrees) {
      notes.push_back("column \"" + column_.column + "\" moves over " +
                      format_number((high - low) * 180.0 / std::numbers::pi) +
                      " degrees only; if it is in radians, write unit: RADIAN");
    }
    const auto missing =
        std::ranges::count_if(angles_, [](double angle) { return std::isnan(angle); });
    if (missing > 0) {
      notes.push_back("column \"" + column_.column + "\" has " + std::to_string(missing) +
                      " missing samples");
    }
  }

  bool moves() const {
    const auto [low, high] = range();
    return high > low;
  }

  double at(int row) const { return angles_[static_cast<std::size_t>(row)]; }

 private:
  /// Returns for each row of a segment the median of the angles around it. A run of up to
  /// kOutliersInARow false readings does not change the medians, and neither does the median change
  /// a steady motion. NaN if no angle around the row was observed.
  std::vector<double> running_medians(int first, int count) const {
    constexpr int kReach = static_cast<int>(estimator::kOutliersInARow);
    const int width = std::min(2 * kReach + 1, count);
    std::vector<double> medians, around;
    medians.reserve(static_cast<std::size_t>(count));
    for (int k = 0; k < count; ++k) {
      const int begin = first + std::clamp(k - kReach, 0, count - width);
      around.clear();
      for (int row = begin; row < begin + width; ++row) {
        if (!std::isnan(at(row))) around.push_back(at(row));
      }
      const auto middle = around.begin() + static_cast<std::ptrdiff_t>(around.size() / 2);
      std::ranges::nth_element(around, middle);
      medians.push_back(around.empty() ? std::numeric_limits<double>::quiet_NaN() : *middle);
    }
    return medians;
  }

  std::pair<double, double> range() const { return range_of(angles_); }

  static std::pair<double, double> range_of(const std::vector<double>& angles) {
    double low = std::numeric_limits<double>::infinity();
    double high = -low;
    for (const double angle : angles) {
      if (std::isnan(angle)) continue;
      low = std::min(low, angle);
      high = std::max(high, angle);
    }
    return {low, high};
  }

  [[noreturn]] void refuse_speed(int row, double speed, double speed_max) const {
    constexpr double kPossible = 10.0;  // [largest plausible speed]; more: no joint moves so fast
    const estimator::JointTraits& joint = joint_traits(column_.kind);
    const std::string unit = std::string(" ") + joint.units.rate;
    const std::string advice =
        !joint.turns
            ? "if the column is in millimetres, write unit: MILLIMETER; if in encoder counts, "
              "unit: COUNT"
        : column_.in_radians
            ? "if the column is in degrees, write unit: DEGREE; if in encoder counts, unit: COUNT"
            : "check the column's unit";
    const std::string real =
        speed > kPossible * speed_max
            ? "; if a counter starts again there, write counts_modulo in the rig file's "
              "recording { }"
            : std::string("; if the speed is real, raise ") +
                  (joint.turns ? "speed_max_rad_per_s" : "speed_max_m_per_s") +
                  " in the rig file's recording { }";
    throw proto::InputError(table_.where(row, request_) + ": column \"" + column_.column +
                            "\": joint \"" + column_.joint + "\" would " + joint.noun + " at " +
                            format_number(speed) + unit + ", more than " +
                            format_number(speed_max) + unit + "; " + advice +
                            "; if only single rows are wrong, remove them" + real);
  }

  const EncoderColumn& column_;
  const proto::CsvTable& table_;
  int request_;
  std::vector<double> angles_;
};

/// Returns a control column in the control unit. A missing last value repeats the previous value.
std::vector<double> read_control(const ControlColumn& column, std::vector<double> values) {
  for (double& value : values) value *= column.scale;
  if (std::isnan(values.back())) values.back() = values.size() > 1 ? values[values.size() - 2] : 0;
  return values;
}

/// Makes a segment. Missing rows have no readings and interpolated commands
/// (estimator::interpolate_commands).
estimator::Segment make_segment(const TableSegment& stretch, const RowTimes& time,
                                const std::vector<AngleImport>& angles,
                                const std::vector<std::vector<double>>& controls,
                                const SensorTableReader& inertial) {
  estimator::Segment segment;
  segment.start = stretch.start;
  segment.period = time.summary.period;
  const int samples = time.summary.steady_clock ? stretch.places.back() + 1 : stretch.count;
  segment.angles.setConstant(samples, static_cast<Eigen::Index>(angles.size()),
                             std::numeric_limits<double>::quiet_NaN());
  segment.controls.resize(samples, static_cast<Eigen::Index>(controls.size()));
  segment.inertial = inertial.make_missing_readings(samples);
  std::vector<estimator::SampleGap> holes;
  int place = 0;
  for (int k = 0; k < stretch.count; ++k) {
    const int row = stretch.first + k;
    const auto at = static_cast<std::size_t>(row);
    const int own = time.summary.steady_clock ? stretch.places[static_cast<std::size_t>(k)] : k;
    for (std::size_t i = 0; i < angles.size(); ++i) {
      segment.angles(own, static_cast<Eigen::Index>(i)) = angles[i].at(row);
    }
    for (std::size_t i = 0; i < controls.size(); ++i) {
      segment.controls(own, static_cast<Eigen::Index>(i)) = controls[i][at];
    }
    inertial.copy_row_readings(row, own, segment);
    if (own > place) holes.push_back({place, own - place});
    place = own + 1;
    if (!time.summary.steady_clock) segment.times.push_back(time.stamps[at] - stretch.start);
  }
  estimator::interpolate_commands(holes, segment);
  return segment;
}

int find_column(const std::string& name, const std::vector<NamedColumn>& columns,
                const std::string& wanted) {
  const auto is_wanted = [&](const NamedColumn& column) { return column.name == wanted; };
  const auto found = std::ranges::find_if(columns, is_wanted);
  if (found == columns.end()) {
    throw proto::InputError(name + ": no column \"" + wanted + "\"; the columns are " +
                            join_quoted_names(columns, "none") +
                            ". Correct the name in the rig file's recording { }");
  }
  if (std::count_if(found, columns.end(), is_wanted) > 1) {
    throw proto::InputError(name + ": two columns are called \"" + wanted + "\". Rename one");
  }
  return static_cast<int>(found - columns.begin());
}

/// Lists infinite values, and missing values in columns that do not allow them, as faults.
/// @param refusal  returns the message for an invalid cell from its request and value
template <typename Refusal>
void check_cells(const std::vector<proto::ColumnRequest>& requests, const Refusal& refusal,
                 proto::CsvTable& table) {
  constexpr std::size_t kFaultsMax = 100'000;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const std::vector<double>& values = table.values[i];
    for (std::size_t row = 0; row < values.size(); ++row) {
      const bool may_lack = requests[i].missing == proto::MissingCells::kAllowed ||
                            (requests[i].missing == proto::MissingCells::kAllowedAtTheEnd &&
                             row + 1 == values.size());
      if (std::isfinite(values[row]) || (std::isnan(values[row]) && may_lack)) continue;
      const std::string where = table.where(static_cast<int>(row), static_cast<int>(i));
      table.faults.push_back(
          {static_cast<int>(row), where + ": " + refusal(requests[i], values[row])});
      if (table.faults.size() > kFaultsMax) proto::require_no_fault(table);
    }
  }
}

void number_rows(proto::CsvTable& table) {
  table.lines.resize(table.values.front().size());
  std::iota(table.lines.begin(), table.lines.end(), 1);
}

}  // namespace

ImportedRecording import_csv_text(const std::string& path, std::string_view text,
                                  const RecordingFormat& format, const TimeWindow& window) {
  return import_csv_table(
      proto::read_csv(path, text, make_column_requests(format), format.column_names), format,
      window);
}

std::vector<proto::ColumnRequest> make_column_requests(const RecordingFormat& format) {
  return make_requests(format).columns;
}

ImportedRecording import_csv_table(proto::CsvTable table, const RecordingFormat& format,
                                   const TimeWindow& window) {
  const Requests requests = make_requests(format);
  const std::string path = table.path;
  const std::string time_note = make_times_relative(format, requests.times, table);
  keep_rows_in_window(window, format, requests.times, table);
  proto::require_no_fault(table);
  const RowTimes time = find_row_times(table, format, requests.times);
  ImportedRecording result{.recording = {}, .summary = time.summary};
  ImportSummary& summary = result.summary;
  summary.file = path;
  summary.rows = table.row_count();
  for (const std::string& note : {table.layout, time_note}) {
    if (!note.empty()) summary.notes.push_back(note);
  }

  std::vector<AngleImport> angles;
  for (std::size_t i = 0; i < format.angles.size(); ++i) {
    AngleImport& angle = angles.emplace_back(
        format.angles[i], table, requests.first_angle + static_cast<int>(i), time, summary.notes);
    const double speed_max =
        joint_traits(format.angles[i].kind).turns ? format.speed_max : format.prismatic_speed_max;
    angle.unwrap(time.stamps, speed_max, summary.notes);
    for (const TableSegment& stretch : time.segments) {
      angle.check_speed(stretch, time, speed_max);
    }
    angle.add_notes(summary.notes);
  }
  if (std::none_of(angles.begin(), angles.end(), [](const auto& angle) { return angle.moves(); })) {
    throw proto::InputError(path + ": no motion: all angle columns are constant. Check the " +
                            "encoders and the columns in the rig file's recording { }");
  }
  std::vector<std::vector<double>> controls;
  for (std::size_t i = 0; i < format.controls.size(); ++i) {
    const std::size_t request = static_cast<std::size_t>(requests.times.first_control) + i;
    controls.push_back(read_control(format.controls[i], table.values[request]));
    hold_to(proto::require_range("Sample.command"), table, static_cast<int>(request),
            format.controls[i].column, controls.back());
  }
  const SensorTableReader inertial(format, table, requests.first_inertial, requests.first_angle);
  inertial.add_reading_notes(summary.notes);
  result.recording.name = path;
  for (const TableSegment& stretch : time.segments) {
    result.recording.segments.push_back(make_segment(stretch, time, angles, controls, inertial));
  }
  return result;
}

std::vector<std::string> describe_import(const ImportSummary& summary) {
  std::vector<std::string> notes;
  for (const std::string& note : summary.notes) notes.push_back(summary.file + ": " + note);
  if (summary.holes.count > 0) {
    const int all = summary.rows + summary.holes.rows;
    notes.push_back(summary.file + ": " + std::to_string(summary.holes.rows) + " of " +
                    std::to_string(all) + " rows are missing, in " +
                    std::to_string(summary.holes.count) +
                    (summary.holes.count == 1 ? " place" : " places") +
                    "; these rows have no readings, and their commands are interpolated");
  }
  if (!summary.steady_clock) {
    notes.push_back(
        summary.file + ": time stamps deviate by up to " +
        format_number(1e3 * summary.jitter_max * summary.period, 2) + " ms (" +
        format_number(100.0 * summary.jitter_max, 2) +
        " % of a period) from a uniform grid and are used as they are. If sampling was uniform and "
        "only the stamps jitter, raise jitter_tolerance in the rig file's time { }");
  }
  if (!summary.gaps.empty()) {
    const RecordingGap& gap = summary.gaps.front();
    const std::size_t count = summary.gaps.size();
    std::string place = summary.file;
    if (gap.line > 0) place.append(":").append(std::to_string(gap.line));
    notes.push_back(place + ": " + std::to_string(count) +
                    (count == 1 ? " gap" : " gaps, the first") + " of " +
                    format_number(1e3 * gap.duration) + " ms after " + format_number(gap.start, 6) +
                    " s; the recording is split there and the gap is not filled");
  }
  if (summary.dropped_rows > 0) {
    notes.push_back(summary.file + ": " + std::to_string(summary.dropped_rows) +
                    " rows are in segments too short to use");
  }
  return notes;
}

ImportedRecording import_columns_in_memory(const std::string& name,
                                           const std::vector<NamedColumn>& columns,
                                           const RecordingFormat& format,
                                           const TimeWindow& window) {
  proto::CsvTable table;
  table.path = name;
  for (const NamedColumn& column : columns) table.header.push_back(column.name);
  const std::vector<proto::ColumnRequest> requests = make_column_requests(format);
  for (const proto::ColumnRequest& request : requests) {
    const int field = find_column(name, columns, request.name);
    table.fields.push_back(field);
    table.values.push_back(columns[static_cast<std::size_t>(field)].values);
    if (table.values.back().size() == table.values.front().size()) continue;
    throw proto::InputError(
        name + ": column \"" + request.name + "\" has " +
        std::to_string(table.values.back().size()) + " rows, column \"" + requests.front().name +
        "\" has " + std::to_string(table.values.front().size()) + "; give columns of one length");
  }
  if (table.values.empty() || table.values.front().empty()) {
    throw proto::InputError(name + ": has no rows; record something first");
  }
  number_rows(table);
  const auto refusal = [](const proto::ColumnRequest& request, double value) {
    return "column \"" + request.name + "\": " +
           (std::isnan(value) ? "NaN is not allowed. Remove the row (this leaves a gap), or write "
                                "allow_missing: true if the angle may be missing"
                              : "the value is infinite. Correct or remove the row");
  };
  check_cells(requests, refusal, table);
  return import_csv_table(std::move(table), format, window);
}

ImportedRecording import_file_columns(
    const std::string& path, const std::string& noun, const RecordingFormat& format,
    const std::function<std::vector<double>(const std::string&)>& read, const TimeWindow& window) {
  proto::CsvTable table;
  table.path = path;
  const std::vector<proto::ColumnRequest> requests = make_column_requests(format);
  for (std::size_t i = 0; i < requests.size(); ++i) {
    table.header.push_back(requests[i].name);
    table.fields.push_back(static_cast<int>(i));
    table.sources.push_back(noun + " \"" + requests[i].name + "\"");
    table.values.push_back(read(requests[i].name));
    if (table.values.back().size() != table.values.front().size()) {
      throw proto::InputError(
          path + ": " + table.sources.back() + " has " +
          std::to_string(table.values.back().size()) + " elements, \"" + requests.front().name +
          "\" " + std::to_string(table.values.front().size()) + ". Give columns of equal length");
    }
  }
  if (table.values.front().empty()) {
    throw proto::InputError(path + ": its " + noun + "s are empty; record something first");
  }
  number_rows(table);
  const auto refusal = [](const proto::ColumnRequest&, double) {
    return "not finite. Remove the row, or write allow_missing: true if the angle may be missing";
  };
  check_cells(requests, refusal, table);
  return import_csv_table(std::move(table), format, window);
}

}  // namespace service
