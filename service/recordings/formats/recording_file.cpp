#include "service/recordings/formats/recording_file.hpp"

#include <algorithm>
#include <array>

#include "estimator/model/encoder.hpp"
#include "proto/recording/export/hdf5_file.hpp"
#include "proto/recording/export/mat_file.hpp"
#include "proto/recording/joint_state.hpp"
#include "proto/recording/mcap/file.hpp"
#include "proto/recording/mcap/mcap_reader.hpp"
#include "proto/recording/topics.hpp"
#include "proto/text/csv_table.hpp"
#include "proto/text/files.hpp"
#include "proto/text/input_error.hpp"
#include "service/recordings/formats/recording_formats.hpp"

namespace service {
namespace {

bool has_columns(const std::vector<std::string>& header, const RecordingFormat& format) {
  return std::ranges::all_of(make_column_requests(format),
                             [&](const proto::ColumnRequest& request) {
                               return std::ranges::count(header, request.name) > 0;
                             });
}

ImportedRecording import_csv_of_any_kind(const std::string& path, const Rig& rig) {
  const std::string text = proto::read_file(path, proto::kTableSizeMax);
  const std::vector<std::string> header = proto::parse_csv_header(path, text);
  if (is_estimated_state_csv(header)) return import_estimated_states_csv(path, text, rig);
  if (rig.format && has_columns(header, *rig.format)) {
    return import_csv_text(path, text, *rig.format);
  }
  if (is_exported_csv(header)) return import_exported_csv(path, text, rig);
  if (is_true_motion_csv(header)) return import_true_motion_csv(path, text, rig);
  if (const RecordingFormat plain = default_recording_format(rig); has_columns(header, plain)) {
    return import_csv_text(path, text, plain);
  }
  // This reports the missing columns by name.
  if (rig.format) return import_csv_text(path, text, *rig.format);
  throw proto::InputError(rig.path +
                          ": has no recording { } for CSV files. Add one, or give a file written "
                          "by rigcal export or rigcal simulate");
}

/// Visitor that finds the format of an MCAP file and ends the scan as soon as it is known.
class KindFinder final : public proto::McapVisitor {
 public:
  bool on_metadata(const proto::McapMetadata& metadata) override {
    return metadata.name != proto::kHeaderMetadata;
  }
  bool on_message(const proto::McapChannel&, const proto::McapSchema* schema,
                  const proto::McapMessage&) override {
    if (schema == nullptr) return true;
    if (schema->name == proto::kJointStateSchema) kind = RecordingFileFormat::kJointState;
    if (schema->name == proto::kJointTopics.message_type) kind = RecordingFileFormat::kStateMcap;
    return kind == RecordingFileFormat::kDaqMcap;
  }

  RecordingFileFormat kind = RecordingFileFormat::kDaqMcap;
};

RecordingFileFormat mcap_kind(const std::string& path) {
  KindFinder finder;
  // The reader reports unreadable files.
  if (const auto file = proto::open_input_file(path); file.ok()) {
    (void)proto::scan_mcap(*file.value(), finder).ok();
  }
  return finder.kind;
}

/// Returns the first bytes of a file, enough to recognize its format.
std::string beginning_of(const std::string& path) {
  std::array<std::uint8_t, 64> bytes{};
  const auto file = proto::open_input_file(path);
  if (!file.ok()) return "";
  const auto size =
      static_cast<std::size_t>(std::min<std::uint64_t>(bytes.size(), file.value()->size_bytes()));
  if (!file.value()->read(0, std::span(bytes).first(size)).ok()) return "";
  return std::string(proto::as_text(std::span(bytes).first(size)));
}

RecordingColumns csv_columns(const std::string& path) {
  const std::string text = proto::read_file(path, proto::kTableSizeMax);
  RecordingColumns found;
  for (const std::string& name : proto::parse_csv_header(path, text)) {
    try {
      auto table = proto::parse_csv(path, text, {{name, proto::MissingCells::kAllowed}});
      found.columns.push_back({name, std::move(table.values[0])});
    } catch (const proto::TextColumnError&) {
      found.columns.push_back({name, {}});
      found.texts.push_back(name);
    } catch (const proto::InputError& error) {
      found.columns.push_back({name, {}});
      found.fault = error.what();
    }
  }
  return found;
}

RecordingColumns mat_columns(const std::string& path) {
  const proto::MatFile file(path);
  RecordingColumns found;
  for (const proto::MatFile::Variable& variable : file.variables()) {
    if (!variable.is_numeric || variable.rows * variable.columns == 0) continue;
    const std::vector<double> values = file.read(variable.name);
    const bool single = variable.rows == 1 || variable.columns == 1;
    const std::size_t columns = single ? 1 : variable.columns;
    const auto rows = static_cast<std::ptrdiff_t>(values.size() / columns);
    for (std::size_t k = 0; k < columns; ++k) {
      const auto begin = values.begin() + static_cast<std::ptrdiff_t>(k) * rows;
      found.columns.push_back(
          {single ? variable.name : variable.name + "(" + std::to_string(k + 1) + ")",
           {begin, begin + rows}});
    }
  }
  return found;
}

RecordingColumns hdf5_columns(const std::string& path) {
  const proto::Hdf5File file(path);
  RecordingColumns found;
  for (const proto::Hdf5File::Column& column : file.columns()) {
    const std::string last = column.name.substr(column.name.rfind('/') + 1);
    found.columns.push_back({file.find(last) == &column ? last : column.name, file.read(column)});
  }
  // The row index of pandas is a column, too, but the least likely choice.
  std::ranges::stable_partition(found.columns,
                                [](const NamedColumn& each) { return each.name != "axis1"; });
  if (file.has_pandas_blocks()) {
    found.fault =
        path +
        ": pandas wrote a table without column names. Save it with to_hdf(..., format='fixed')";
  }
  return found;
}

/// Keeps the columns with the most frequent length. Others are scalars or settings.
void keep_rows(std::vector<NamedColumn>& columns) {
  std::size_t best = 0;
  std::ptrdiff_t most = 0;
  for (const NamedColumn& column : columns) {
    const std::size_t rows = column.values.size();
    const auto count = std::ranges::count_if(
        columns, [&](const NamedColumn& each) { return each.values.size() == rows; });
    if (rows > 1 && (count > most || (count == most && rows > best))) {
      most = count;
      best = rows;
    }
  }
  std::erase_if(columns, [&](const NamedColumn& each) { return each.values.size() != best; });
}

RecordingColumns columns_of(const std::string& path, RecordingFileFormat kind,
                            const std::string& topic) {
  switch (kind) {
    case RecordingFileFormat::kMat:
      return mat_columns(path);
    case RecordingFileFormat::kHdf5:
      return hdf5_columns(path);
    case RecordingFileFormat::kJointState:
      return {.columns = read_joint_state_columns(path, topic)};
    case RecordingFileFormat::kDaqMcap:
      throw proto::InputError(
          path +
          ": an MCAP recording needs no column names; use it with its rig file. \"rigcal export " +
          path + " --out run.csv\" converts it to a table");
    case RecordingFileFormat::kStateMcap:
      throw proto::InputError(path +
                              ": contains states estimated by rigcal. Give the original recording");
    default:
      reject_unsupported_format(path, kind);
      return csv_columns(path);
  }
}

void check_topic_applies(const std::string& path, RecordingFileFormat kind,
                         const std::string& topic) {
  if (topic.empty() || kind == RecordingFileFormat::kJointState) return;
  throw proto::InputError(path +
                          ": is not a ROS 2 bag with joint states, so --topic does not "
                          "apply. Leave it out");
}

}  // namespace

RecordingFormat default_recording_format(const Rig& rig) {
  RecordingFormat format;
  format.time_column = "t_s";
  for (const estimator::Encoder& sensor : estimator::used_encoders(rig.mechanism)) {
    EncoderColumn angle;
    angle.column = sensor.name + "_" + sensor.units().coordinate;
    angle.joint = sensor.name;
    angle.kind = sensor.kind;
    angle.in_radians = sensor.kind_traits().turns;
    angle.allow_missing = true;
    format.angles.push_back(angle);
  }
  for (std::size_t j = 0; j < rig.mechanism.joints.size(); ++j) {
    const estimator::Joint& joint = rig.mechanism.joints[j];
    if (!joint.motor.present) continue;
    ControlColumn control;
    control.column = joint.name + "_control";
    control.joint = joint.name;
    control.unit = rig.joint_facts[j].control_unit;
    format.controls.push_back(control);
  }
  return format;
}

ImportedRecording import_recording(const std::string& path, const Rig& rig,
                                   const std::string& topic) {
  const RecordingFileFormat kind = detect_file_format(path);
  check_topic_applies(path, kind, topic);
  switch (kind) {
    case RecordingFileFormat::kDaqMcap:
      return import_daq_mcap(path, rig);
    case RecordingFileFormat::kJointState:
      return import_joint_states(path, rig, topic);
    case RecordingFileFormat::kStateMcap:
      return import_estimated_states_mcap(path, rig);
    case RecordingFileFormat::kMat:
      return import_mat(path, rig);
    case RecordingFileFormat::kHdf5:
      return import_hdf5(path, rig);
    default:
      reject_unsupported_format(path, kind);
      return import_csv_of_any_kind(path, rig);
  }
}

RecordingFileFormat detect_file_format(const std::string& path) {
  if (has_mcap_extension(path)) return mcap_kind(path);
  if (path.ends_with(".mat")) return RecordingFileFormat::kMat;
  if (proto::is_hdf5_file(path)) return RecordingFileFormat::kHdf5;
  const std::string begin = beginning_of(path);
  if (begin.starts_with(proto::as_text(proto::kMcapMagic))) return mcap_kind(path);
  if (begin.starts_with("\x89HDF\r\n")) return RecordingFileFormat::kHdf5;
  if (begin.starts_with("MATLAB ")) return RecordingFileFormat::kMat;
  if (begin.starts_with("PAR1")) return RecordingFileFormat::kParquet;
  const std::size_t first = begin.find_first_not_of(" \t\r\n");
  const bool json = first != std::string::npos && begin[first] == '{';
  return json ? RecordingFileFormat::kJson : RecordingFileFormat::kTable;
}

void reject_unsupported_format(const std::string& path, RecordingFileFormat kind) {
  if (kind == RecordingFileFormat::kParquet) {
    throw proto::InputError(path +
                            ": Parquet files are not supported. Convert the file to CSV in Python: "
                            "pandas.read_parquet('" +
                            path + "').to_csv('run.csv', index=False)");
  }
  if (kind == RecordingFileFormat::kJson) {
    throw proto::InputError(path +
                            ": JSON, such as a result of rigcal, is not a recording. Give a "
                            "recording, and the result as --parameters " +
                            path);
  }
}

RecordingColumns read_recording_columns(const std::string& path, const std::string& topic) {
  const RecordingFileFormat kind = detect_file_format(path);
  check_topic_applies(path, kind, topic);
  RecordingColumns found = columns_of(path, kind, topic);
  if (kind == RecordingFileFormat::kMat || kind == RecordingFileFormat::kHdf5)
    keep_rows(found.columns);
  const bool any =
      std::ranges::any_of(found.columns, [](const auto& c) { return !c.values.empty(); });
  if (any) return found;
  throw proto::InputError(found.fault.empty() ? path + ": has no numeric rows" : found.fault);
}

}  // namespace service
