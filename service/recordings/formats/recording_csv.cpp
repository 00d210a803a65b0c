#include "service/recordings/formats/recording_file.hpp"

#include <cmath>
#include <functional>
#include <limits>

#include "service/text/csv_row.hpp"

namespace service {
namespace {

using estimator::Segment;

/// Column of the CSV file, with its name and a function for its value in row k of segment s.
struct CsvColumn {
  std::string name;
  std::function<double(const Segment& segment, std::size_t s, Eigen::Index k)> value;
};

RecordingFormat format_for(const Rig& rig) {
  return rig.format ? *rig.format : default_recording_format(rig);
}

std::vector<CsvColumn> csv_columns_of(const RecordingFormat& format) {
  std::vector<CsvColumn> columns;
  if (!format.time_column.empty()) {
    columns.push_back(
        {format.time_column, [&format](const Segment& segment, std::size_t, Eigen::Index k) {
           return (segment.start + segment.time(k)) / format.time_scale;
         }});
  }
  for (std::size_t i = 0; i < format.angles.size(); ++i) {
    const EncoderColumn& angle = format.angles[i];
    columns.push_back(
        {angle.column, [&angle, i](const Segment& segment, std::size_t, Eigen::Index k) {
           const double reading = segment.angles(k, static_cast<Eigen::Index>(i));
           const double value = (reading - angle.offset) / angle.scale;
           if (!(angle.counts_modulo > 0.0)) return value;
           return std::remainder(value,
                                 angle.counts_modulo * angle.count_size / std::abs(angle.scale));
         }});
  }
  for (std::size_t i = 0; i < format.controls.size(); ++i) {
    const ControlColumn& control = format.controls[i];
    if (control.is_prescribed) continue;  // it is the acceleration of an encoder's column
    columns.push_back(
        {control.column, [&control, i](const Segment& segment, std::size_t, Eigen::Index k) {
           return segment.controls(k, static_cast<Eigen::Index>(i)) / control.scale;
         }});
  }
  for (const SensorColumn& axis : format.inertial) {
    columns.push_back({axis.column, [&axis](const Segment& segment, std::size_t, Eigen::Index k) {
                         return axis.index < segment.inertial.cols()
                                    ? segment.inertial(k, axis.index) / axis.scale
                                    : std::numeric_limits<double>::quiet_NaN();
                       }});
  }
  for (std::size_t i = 0; i < format.contacts.size(); ++i) {
    if (format.contacts[i].column.empty()) continue;
    columns.push_back(
        {format.contacts[i].column, [i](const Segment& segment, std::size_t, Eigen::Index k) {
           return segment.contacts(k, static_cast<Eigen::Index>(i));
         }});
  }
  if (!format.segment_column.empty()) {
    columns.push_back({format.segment_column, [](const Segment&, std::size_t s, Eigen::Index) {
                         return static_cast<double>(s);
                       }});
  }
  return columns;
}

bool is_read(const Segment& segment, Eigen::Index k) {
  return !segment.angles.row(k).array().isNaN().all() ||
         (segment.inertial.cols() > 0 && !segment.inertial.row(k).array().isNaN().all());
}

/// Checks whether an angle column misses a reading in a row that has other readings.
bool lacks(const estimator::Recording& recording, Eigen::Index column) {
  for (const Segment& segment : recording.segments) {
    for (Eigen::Index k = 0; k < segment.angles.rows(); ++k) {
      if (std::isnan(segment.angles(k, column)) && is_read(segment, k)) return true;
    }
  }
  return false;
}

bool has_holes(const estimator::Recording& recording) {
  for (const Segment& segment : recording.segments) {
    for (Eigen::Index k = 0; k < segment.angles.rows(); ++k) {
      if (!is_read(segment, k)) return true;
    }
    if (!segment.times.empty()) return true;
  }
  return recording.segments.size() > 1;
}

}  // namespace

std::string format_recording_csv(const Rig& rig, const estimator::Recording& recording) {
  const RecordingFormat format = format_for(rig);
  const std::vector<CsvColumn> columns = csv_columns_of(format);
  std::vector<std::string> names;
  for (const CsvColumn& column : columns) names.push_back(column.name);
  std::string text = format_csv_row(names);
  for (std::size_t s = 0; s < recording.segments.size(); ++s) {
    const Segment& segment = recording.segments[s];
    for (Eigen::Index k = 0; k < segment.angles.rows(); ++k) {
      if (!is_read(segment, k)) continue;
      for (std::size_t j = 0; j < columns.size(); ++j) {
        if (j > 0) text += ',';
        text += format_csv_number(columns[j].value(segment, s, k));
      }
      text += '\n';
    }
  }
  return text;
}

std::vector<std::string> list_csv_losses(const Rig& rig, const estimator::Recording& recording) {
  const RecordingFormat format = format_for(rig);
  std::vector<std::string> losses;
  if (format.time_column.empty() && has_holes(recording)) {
    losses.push_back(
        "the recording has gaps or non-uniform times, "
        "which a file without a time column cannot represent. Add one to the rig file: "
        "time { column: ... }");
  }
  for (std::size_t i = 0; i < format.angles.size(); ++i) {
    const EncoderColumn& angle = format.angles[i];
    if (angle.allow_missing || !lacks(recording, static_cast<Eigen::Index>(i))) continue;
    losses.push_back("column \"" + angle.column +
                     "\" has missing samples. Write allow_missing: "
                     "true for the column in the rig file to read the file back");
  }
  if (format.inertial.empty() && recording.segments.front().inertial.cols() > 0) {
    losses.push_back(
        "readings of sensors other than encoders are left out. "
        "Add columns for them to the rig file's recording { }");
  }
  return losses;
}

}  // namespace service
