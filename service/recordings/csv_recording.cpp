#include "service/recordings/csv_recording.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "estimator/signal/prescribed_acceleration.hpp"
#include "proto/check/number_check.hpp"
#include "proto/text/input_error.hpp"
#include "service/recordings/angle_import.hpp"
#include "service/recordings/command_unit.hpp"
#include "service/recordings/counter_wrap.hpp"
#include "service/recordings/quaternion_columns.hpp"
#include "service/recordings/row_clock.hpp"
#include "service/recordings/row_times.hpp"
#include "service/recordings/sensor_table_reader.hpp"
#include "service/rig/rig_contacts.hpp"
#include "service/text/number_format.hpp"

namespace service {
namespace {

/// Indices of the columns of a recording format among the columns requested from a table.
struct Requests {
  std::vector<proto::ColumnRequest> columns;
  ColumnIndices indices;
};

Requests make_requests(const RecordingFormat& format) {
  Requests requests;
  const auto add = [&](const std::string& name, proto::MissingCells missing) {
    requests.columns.push_back({name, missing});
    return static_cast<int>(requests.columns.size()) - 1;
  };
  if (!format.time_column.empty()) {
    requests.indices.time = add(format.time_column, proto::MissingCells::kForbidden);
  }
  if (!format.segment_column.empty()) {
    requests.indices.segment = add(format.segment_column, proto::MissingCells::kForbidden);
  }
  requests.indices.first_angle = static_cast<int>(requests.columns.size());
  for (const EncoderColumn& angle : format.angles) {
    add(angle.column, angle.allow_missing ? proto::MissingCells::kAllowed
                                          : proto::MissingCells::kForbiddenByRigFile);
  }
  requests.indices.first_control = static_cast<int>(requests.columns.size());
  for (const ControlColumn& control : format.controls) {
    add(control.column, proto::MissingCells::kAllowed);
  }
  requests.indices.first_inertial = static_cast<int>(requests.columns.size());
  for (const SensorColumn& column : format.inertial) {
    add(column.column, proto::MissingCells::kAllowed);
  }
  requests.indices.first_contact = static_cast<int>(requests.columns.size());
  for (const ContactColumn& contact : format.contacts) {
    if (!contact.column.empty()) add(contact.column, proto::MissingCells::kForbidden);
  }
  return requests;
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

/// Sets the contacts of a segment from their columns or phases. They last during missing rows.
void read_contacts(const RecordingFormat& format, const proto::CsvTable& table, int first_contact,
                   const TableSegment& stretch, const RowTimes& time, estimator::Segment& segment) {
  set_contacts(format.contacts, segment);
  auto request = static_cast<std::size_t>(first_contact);
  for (std::size_t i = 0; i < format.contacts.size(); ++i) {
    if (format.contacts[i].column.empty()) continue;
    auto active = segment.contacts.col(static_cast<Eigen::Index>(i));
    const std::vector<double>& values = table.values[request];
    for (int k = 0; k < stretch.count; ++k) {
      const int row = stretch.first + k;
      const double value = values[static_cast<std::size_t>(row)];
      if (value != 0.0 && value != 1.0) {
        throw proto::InputError(
            "{}: {} in the contact column \"{}\" is neither 0 nor 1; write 1 while the contact is "
            "active, else 0",
            table.where(row, static_cast<int>(request)), format_number(value),
            format.contacts[i].column);
      }
      const bool is_steady = time.summary.steady_clock;
      const int own = is_steady ? stretch.places[static_cast<std::size_t>(k)] : k;
      active.tail(active.size() - own).setConstant(value);
    }
    ++request;
  }
}

/// Checks that commands are in the unit of their motor, and notes doubts.
void check_commands(const ControlColumn& control, const proto::CsvTable& table, int request,
                    std::vector<std::string>& notes) {
  if (control.is_prescribed) return;
  const std::string label = table.label(request);
  check_command_unit(control, label, table.where(0, request));
  const std::string doubt =
      describe_doubtful_commands(control, label, table.values[static_cast<std::size_t>(request)]);
  if (!doubt.empty()) notes.push_back(doubt);
}

/// Sets the controls of joints with a prescribed motion to the accelerations of their coordinates.
void prescribe_motions(const RecordingFormat& format, estimator::Segment& segment) {
  if (std::ranges::none_of(format.controls, &ControlColumn::is_prescribed)) return;
  segment.control_noise.setZero(segment.controls.cols());
  for (Eigen::Index i = 0; i < segment.controls.cols(); ++i) {
    const ControlColumn& control = format.controls[static_cast<std::size_t>(i)];
    if (!control.is_prescribed) continue;
    const auto own = std::ranges::find(format.angles, control.joint, &EncoderColumn::joint);
    const auto estimate =
        estimator::estimate_prescribed_acceleration(segment, own - format.angles.begin());
    segment.controls.col(i) = estimate.values;
    segment.control_noise[i] = estimate.noise;
  }
}

/// Throws InputError with all requested columns that a table lacks, if it lacks any.
void require_columns(const std::string& name, const std::vector<NamedColumn>& columns,
                     const std::vector<proto::ColumnRequest>& requests) {
  const std::string missing =
      proto::describe_missing_columns(requests, [&](const std::string& wanted) {
        return std::ranges::count(columns, wanted, &NamedColumn::name) > 0;
      });
  if (missing.empty()) return;
  throw proto::InputError(name + ": " + missing + "; the columns are " +
                          join_quoted_names(columns, "none") +
                          ". Correct recording { } in the rig file");
}

/// Returns the index of an existing column.
int find_column(const std::string& name, const std::vector<NamedColumn>& columns,
                const std::string& wanted) {
  const auto found = std::ranges::find(columns, wanted, &NamedColumn::name);
  if (std::ranges::count(found, columns.end(), wanted, &NamedColumn::name) > 1) {
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
      const bool may_lack = requests[i].missing == proto::MissingCells::kAllowed;
      if (std::isfinite(values[row]) || (std::isnan(values[row]) && may_lack)) continue;
      const std::string where = table.where(static_cast<int>(row), static_cast<int>(i));
      table.faults.push_back({static_cast<int>(row), static_cast<int>(i),
                              where + ": " + refusal(requests[i], values[row])});
      if (table.faults.size() > kFaultsMax) proto::require_no_fault(table);
    }
  }
}

/// Returns the end of a remedy for a missing value: how the rig file can allow it, if it can.
std::string allow_missing_remedy(const proto::ColumnRequest& request) {
  const bool may_be_allowed = request.missing == proto::MissingCells::kForbiddenByRigFile;
  return may_be_allowed ? ", or write allow_missing: true if the angle may be missing" : "";
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
  std::string time_note = make_times_relative(format, requests.indices, table);
  if (requests.indices.time >= 0) {
    const double modulus =
        unwrap_time_counter(table.values[static_cast<std::size_t>(requests.indices.time)]);
    if (modulus > 0.0) {
      if (!time_note.empty()) time_note += "; ";
      time_note +=
          "the time stamps start again after " + format_modulus(modulus) + " and were unwrapped";
    }
  }
  keep_rows_in_window(window, format, requests.indices, table);
  proto::require_no_fault(table);
  RowClock clock = arrange_rows(format, requests.indices, table);
  const RowTimes time = find_row_times(table, format, requests.indices, clock);
  ImportedRecording result{.recording = {}, .summary = time.summary};
  ImportSummary& summary = result.summary;
  summary.file = path;
  summary.rows = table.row_count();
  summary.has_several_clocks = clock.has_several;
  summary.arrival = clock.arrival;
  for (const std::string& note : {table.layout, time_note}) {
    if (!note.empty()) summary.notes.push_back(note);
  }
  std::ranges::move(clock.notes, std::back_inserter(summary.notes));

  for (const int first : format.quaternions) {
    std::vector<int> columns(4, requests.indices.first_angle + first);
    std::iota(columns.begin(), columns.end(), columns.front());
    normalize_quaternions(columns, table, summary.notes);
  }
  std::vector<AngleImport> angles;
  for (std::size_t i = 0; i < format.angles.size(); ++i) {
    AngleImport& angle = angles.emplace_back(format.angles[i], table,
                                             requests.indices.first_angle + static_cast<int>(i),
                                             time, summary.notes);
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
    const std::size_t request = static_cast<std::size_t>(requests.indices.first_control) + i;
    controls.push_back(table.values[request]);
    check_commands(format.controls[i], table, static_cast<int>(request), summary.notes);
    // prescribe_motions() sets the controls of prescribed motions.
    const double scale = format.controls[i].is_prescribed ? 0.0 : format.controls[i].scale;
    for (double& value : controls.back()) value *= scale;
    check_column_range(proto::require_range("Sample.command"), table, static_cast<int>(request),
                       format.controls[i].column, controls.back());
  }
  const SensorTableReader inertial(format, table, requests.indices.first_inertial,
                                   requests.indices.first_angle);
  inertial.add_reading_notes(summary.notes);
  result.recording.name = path;
  for (const TableSegment& stretch : time.segments) {
    result.recording.segments.push_back(make_segment(stretch, time, angles, controls, inertial));
    read_contacts(format, table, requests.indices.first_contact, stretch, time,
                  result.recording.segments.back());
    prescribe_motions(format, result.recording.segments.back());
  }
  return result;
}

std::string describe_irregular_times(const ImportSummary& summary) {
  if (summary.steady_clock || summary.has_several_clocks) return "";
  // A tolerance in the rig file must be below 0.5.
  const bool is_tolerable = summary.jitter_max < 0.49;
  return "time stamps deviate by up to " +
         format_number(1e3 * summary.jitter_max * summary.period, 2) + " ms (" +
         format_number(100.0 * summary.jitter_max, 2) +
         " % of a period) from a uniform grid and are used as they are. "
         "If sampling was uniform and only the stamps jitter, " +
         (is_tolerable ? "raise jitter_tolerance in the rig file's time { } to " +
                             format_number(std::ceil(100.0 * summary.jitter_max) / 100.0)
                       : "write rate_hz: " + format_number(1.0 / summary.period, 3) +
                             " instead of the column in the rig file's time { }");
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
  if (const std::string irregular = describe_irregular_times(summary); !irregular.empty()) {
    notes.push_back(summary.file + ": " + irregular);
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
  for (const NamedColumn& column : columns) {
    table.header.push_back(column.name);
    table.units.push_back(column.unit);
  }
  const std::vector<proto::ColumnRequest> requests = make_column_requests(format);
  require_columns(name, columns, requests);
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
           (std::isnan(value) ? "NaN is not allowed. Remove the row (this leaves a gap)" +
                                    allow_missing_remedy(request)
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
  const auto refusal = [](const proto::ColumnRequest& request, double) {
    return "not finite. Remove the row" + allow_missing_remedy(request);
  };
  check_cells(requests, refusal, table);
  return import_csv_table(std::move(table), format, window);
}

}  // namespace service
