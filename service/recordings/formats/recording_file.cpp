#include "service/recordings/formats/recording_file.hpp"

#include <algorithm>
#include <array>
#include <filesystem>

#include "estimator/model/encoder.hpp"
#include "proto/recording/joint_state.hpp"
#include "proto/recording/mcap/file.hpp"
#include "proto/recording/mcap/mcap_reader.hpp"
#include "proto/recording/sqlite_bag.hpp"
#include "proto/recording/topics.hpp"
#include "proto/text/files.hpp"
#include "proto/text/input_error.hpp"
#include "proto/text/table/csv_table.hpp"
#include "service/recordings/formats/recording_formats.hpp"
#include "service/rig/rig_contacts.hpp"

namespace service {
namespace {

bool has_columns(const std::vector<std::string>& header, const RecordingFormat& format) {
  return std::ranges::all_of(make_column_requests(format),
                             [&](const proto::ColumnRequest& request) {
                               return std::ranges::count(header, request.name) > 0;
                             });
}

ImportedRecording import_csv_of_any_kind(const std::string& path, const Rig& rig,
                                         const TimeWindow& window) {
  const std::string text = proto::read_file(path, proto::kTableSizeMax);
  const std::vector<std::string> header =
      proto::parse_csv_header(path, text,
                              rig.format ? rig.format->column_names : std::vector<std::string>())
          .names;
  if (is_estimated_state_csv(header)) return import_estimated_states_csv(path, text, rig);
  if (rig.format && has_columns(header, *rig.format)) {
    return import_csv_text(path, text, *rig.format, window);
  }
  if (is_exported_csv(header)) return import_exported_csv(path, text, rig);
  if (is_true_motion_csv(header)) return import_true_motion_csv(path, text, rig);
  if (const RecordingFormat plain = default_recording_format(rig); has_columns(header, plain)) {
    return import_csv_text(path, text, plain, window);
  }
  // This reports the missing columns by name.
  if (rig.format) return import_csv_text(path, text, *rig.format, window);
  throw proto::InputError(rig.path +
                          ": has no recording { } for CSV files. "
                          "Add one, or give a file written by rigcal export or rigcal simulate");
}

/// Visitor that finds the format of an MCAP file and ends the scan as soon as it is known.
class KindFinder final : public proto::McapVisitor {
 public:
  bool on_metadata(const proto::McapMetadata& metadata) override {
    is_daq_ = is_daq_ || metadata.name == proto::kHeaderMetadata;
    return !is_daq_;
  }
  bool on_message(const proto::McapChannel& channel, const proto::McapSchema* schema,
                  const proto::McapMessage&) override {
    if (schema == nullptr) return true;
    is_state_ = schema->name == proto::kJointTopics.message_type;
    is_bag_ = is_bag_ || channel.message_encoding == "cdr";
    return !is_state_ && schema->name != proto::kJointStateSchema;
  }

  /// Returns the format. A bag without joint states counts as one with them, and is refused.
  RecordingFileFormat kind() const {
    return is_state_             ? RecordingFileFormat::kStateMcap
           : is_bag_ && !is_daq_ ? RecordingFileFormat::kJointState
                                 : RecordingFileFormat::kDaqMcap;
  }

 private:
  bool is_daq_ = false, is_state_ = false, is_bag_ = false;
};

RecordingFileFormat mcap_kind(const std::string& path) {
  KindFinder finder;
  // The reader reports unreadable files.
  if (const auto file = proto::open_input_file(path); file.ok()) {
    (void)proto::scan_mcap(*file.value(), finder).ok();
  }
  return finder.kind();
}

/// Returns the first bytes of a file, enough to recognize its format.
std::string beginning_of(const std::string& path) {
  std::array<std::uint8_t, 512> bytes{};
  const auto file = proto::open_input_file(path);
  if (!file.ok()) return "";
  const auto size =
      static_cast<std::size_t>(std::min<std::uint64_t>(bytes.size(), file.value()->size_bytes()));
  if (!file.value()->read(0, std::span(bytes).first(size)).ok()) return "";
  return std::string(proto::as_text(std::span(bytes).first(size)));
}

/// Returns whether a file begins as a result of rigcal in JSON does, with the name of the rig or
/// the parameters.
bool is_result(std::string_view begin) {
  std::string text;
  for (const char c : begin.substr(0, begin.find(':'))) {
    if (c != ' ' && c != '\t' && c != '\r' && c != '\n') text += c;
  }
  return text == "{\"rig\"" || text == "{\"parameters\"";
}

RecordingColumns csv_columns(const std::string& path, const std::vector<std::string>& names) {
  proto::CsvColumns table =
      proto::read_csv_columns(path, proto::read_file(path, proto::kTableSizeMax), names);
  RecordingColumns found{.stamp_count = table.stamp_count, .layout = table.layout};
  for (proto::CsvColumn& column : table.columns) {
    if (column.values.empty() && column.fault.empty()) found.texts.push_back(column.name);
    if (found.fault.empty()) found.fault = column.fault;
    found.columns.push_back({column.name, std::move(column.values), column.fault, column.unit});
  }
  return found;
}

RecordingColumns columns_of(const std::string& path, RecordingFileFormat kind,
                            const std::vector<std::string>& names, const std::string& topic) {
  switch (kind) {
    case RecordingFileFormat::kArrays:
      return read_array_columns(path);
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
      return csv_columns(path, names);
  }
}

void check_topic_applies(const std::string& path, RecordingFileFormat kind,
                         const std::string& topic) {
  if (topic.empty() || kind == RecordingFileFormat::kJointState) return;
  throw proto::InputError(path +
                          ": is not a ROS 2 bag with joint states, so --topic does not apply. "
                          "Leave it out");
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
    control.unit = rig.joint_properties[j].control_unit;
    format.controls.push_back(control);
  }
  format.contacts = rig.contacts;
  for (ContactColumn& contact : format.contacts) contact.column.clear();
  return format;
}

namespace {

ImportedRecording import_by_format(const std::string& path, const Rig& rig,
                                   const RecordingSelection& selection) {
  const TimeWindow window = selection.window();
  const std::string& topic = selection.topic;
  const RecordingFileFormat kind = detect_file_format(path);
  check_topic_applies(path, kind, topic);
  switch (kind) {
    case RecordingFileFormat::kDaqMcap:
      return import_daq_mcap(path, rig);
    case RecordingFileFormat::kJointState:
      return import_joint_states(path, rig, topic);
    case RecordingFileFormat::kStateMcap:
      return import_estimated_states_mcap(path, rig);
    case RecordingFileFormat::kArrays:
      return import_arrays(path, rig, window);
    default:
      reject_unsupported_format(path, kind);
      return import_csv_of_any_kind(path, rig, window);
  }
}

}  // namespace

ImportedRecording import_recording(const std::string& path, const Rig& rig,
                                   const RecordingSelection& selection) {
  ImportedRecording imported = import_by_format(path, rig, selection);
  for (estimator::Segment& segment : imported.recording.segments) {
    if (segment.contacts.cols() == 0) set_contacts(rig.contacts, segment);  // no column for them
  }
  return imported;
}

RecordingFileFormat detect_file_format(const std::string& path) {
  if (std::error_code none; std::filesystem::exists(path + "/metadata.yaml", none)) {
    throw proto::InputError(path + ": is the folder of a ROS 2 bag; give its .mcap or .db3 file");
  }
  if (has_mcap_extension(path)) return mcap_kind(path);
  const std::string begin = beginning_of(path);
  if (begin.starts_with(proto::as_text(proto::kMcapMagic))) return mcap_kind(path);
  if (begin.starts_with(proto::kSqliteBegin)) return RecordingFileFormat::kJointState;
  if (!describe_foreign_file(path, begin).empty()) return RecordingFileFormat::kForeign;
  const bool has_arrays =
      std::ranges::any_of(std::array{"\x89HDF\r\n", "MATLAB ", "\x93NUMPY", "PK\x03\x04"},
                          [&](const char* magic) { return begin.starts_with(magic); });
  const bool is_named =
      std::ranges::any_of(std::array{".mat", ".h5", ".hdf5", ".hdf", ".npy", ".npz"},
                          [&](const char* extension) { return path.ends_with(extension); });
  if (has_arrays || is_named) return RecordingFileFormat::kArrays;
  return is_result(begin) ? RecordingFileFormat::kJson : RecordingFileFormat::kTable;
}

void reject_unsupported_format(const std::string& path, RecordingFileFormat kind) {
  if (kind == RecordingFileFormat::kForeign) {
    throw proto::InputError(describe_foreign_file(path, beginning_of(path)));
  }
  if (kind == RecordingFileFormat::kJson) {
    throw proto::InputError(path + ": a result of rigcal is not a recording. Give it as " +
                            "--parameters " + path);
  }
}

RecordingColumns read_recording_columns(const std::string& path,
                                        const std::vector<std::string>& names,
                                        const std::string& topic) {
  const RecordingFileFormat kind = detect_file_format(path);
  check_topic_applies(path, kind, topic);
  RecordingColumns found = columns_of(path, kind, names, topic);
  const bool any =
      std::ranges::any_of(found.columns, [](const auto& c) { return !c.values.empty(); });
  if (any) return found;
  throw proto::InputError(
      !found.fault.empty() ? found.fault
      : kind == RecordingFileFormat::kTable
          ? path +
                ": has no column of numbers. Write the names of the columns in the first line, "
                "and only numbers in the rows below"
          : path + ": has no numeric rows");
}

}  // namespace service
