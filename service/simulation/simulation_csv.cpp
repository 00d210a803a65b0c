#include "service/simulation/simulation_csv.hpp"

#include <functional>

#include "service/import/recording_file.hpp"
#include "service/text/csv_row.hpp"

namespace service {
namespace {

/// A column of the file: its name and its value in row k.
struct Column {
  std::string name;
  std::function<double(Eigen::Index)> value;
};

std::vector<Column> make_columns(const SimulatedRun& run, const RecordingFormat& format) {
  std::vector<Column> columns;
  if (!format.time_column.empty()) {
    columns.push_back({format.time_column, [&run, &format](Eigen::Index k) {
                         return static_cast<double>(k) * run.period / format.time_scale;
                       }});
  }
  for (std::size_t i = 0; i < format.angles.size(); ++i) {
    const AngleColumn& angle = format.angles[i];
    columns.push_back({angle.column, [&run, &angle, i](Eigen::Index k) {
                         const double reading = run.angles(k, static_cast<Eigen::Index>(i));
                         return (reading - angle.offset) / angle.scale;
                       }});
  }
  for (std::size_t i = 0; i < format.controls.size(); ++i) {
    const ControlColumn& control = format.controls[i];
    columns.push_back({control.column, [&run, &control, i](Eigen::Index k) {
                         return run.controls(k, static_cast<Eigen::Index>(i)) / control.scale;
                       }});
  }
  for (const InertialColumn& axis : format.inertial) {
    columns.push_back({axis.column, [&run, &axis](Eigen::Index k) {
                         return run.inertial(k, axis.index) / axis.scale;
                       }});
  }
  if (!format.segment_column.empty()) {
    columns.push_back({format.segment_column, [](Eigen::Index) { return 0.0; }});
  }
  return columns;
}

}  // namespace

std::string simulation_csv(const Rig& rig, const SimulatedRun& run) {
  // The rig file's columns, or plain ones where it describes none.
  const RecordingFormat format = rig.format ? *rig.format : plain_format(rig);
  const std::vector<Column> columns = make_columns(run, format);
  std::string text;
  for (const Column& column : columns) text += (text.empty() ? "" : ",") + column.name;
  text += '\n';
  for (Eigen::Index k = 0; k < run.angles.rows(); ++k) {
    for (std::size_t j = 0; j < columns.size(); ++j) {
      if (j > 0) text += ',';
      text += csv_number(columns[j].value(k));
    }
    text += '\n';
  }
  return text;
}

}  // namespace service
