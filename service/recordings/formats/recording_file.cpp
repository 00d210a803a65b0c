#include "service/recordings/formats/recording_file.hpp"

#include <algorithm>

#include "estimator/model/encoder.hpp"
#include "proto/text/csv_table.hpp"
#include "proto/text/files.hpp"
#include "proto/text/input_error.hpp"
#include "service/recordings/formats/exported_recording.hpp"
#include "service/recordings/formats/joint_motion.hpp"
#include "service/recordings/formats/joint_state_recording.hpp"
#include "service/recordings/formats/mat_recording.hpp"
#include "service/recordings/formats/mcap_recording.hpp"
#include "service/recordings/formats/recording_kind.hpp"

namespace service {
namespace {

bool has_columns(const std::vector<std::string>& header, const RecordingFormat& format) {
  return std::ranges::all_of(column_requests(format), [&](const proto::ColumnRequest& request) {
    return std::ranges::count(header, request.name) > 0;
  });
}

ImportedRecording import_csv_of_any_kind(const std::string& path, const Rig& rig) {
  const std::string text = proto::read_file(path, proto::kTableSizeMax);
  const std::vector<std::string> header = proto::parse_csv_header(path, text);
  if (is_state_csv(header)) return import_state_csv(path, text, rig);
  if (rig.format && has_columns(header, *rig.format)) {
    return import_csv_text(path, text, *rig.format);
  }
  if (is_exported_csv(header)) return import_exported_csv(path, text, rig);
  if (is_truth_csv(header)) return import_truth_csv(path, text, rig);
  if (const RecordingFormat plain = plain_format(rig); has_columns(header, plain)) {
    return import_csv_text(path, text, plain);
  }
  // This reports the missing columns by name.
  if (rig.format) return import_csv_text(path, text, *rig.format);
  throw proto::InputError(rig.path +
                          ": has no recording { } for CSV files. Add one, or give a file written "
                          "by rigcal export or rigcal simulate");
}

}  // namespace

RecordingFormat plain_format(const Rig& rig) {
  RecordingFormat format;
  format.time_column = "t_s";
  for (const estimator::Encoder& sensor : estimator::used_encoders(rig.mechanism)) {
    EncoderColumn angle;
    angle.column = sensor.name + "_" + sensor.units().coordinate;
    angle.joint = sensor.name;
    angle.kind = sensor.kind;
    angle.in_radians = sensor.traits().turns;
    angle.allow_missing = true;
    format.angles.push_back(angle);
  }
  for (std::size_t j = 0; j < rig.mechanism.joints.size(); ++j) {
    const estimator::Joint& joint = rig.mechanism.joints[j];
    if (!joint.motorised) continue;
    ControlColumn control;
    control.column = joint.name + "_control";
    control.joint = joint.name;
    control.unit = rig.joint_facts[j].control_unit;
    format.controls.push_back(control);
  }
  return format;
}

ImportedRecording import_recording(const std::string& path, const Rig& rig) {
  const RecordingKind kind = recording_kind(path);
  switch (kind) {
    case RecordingKind::kDaqMcap:
      return import_mcap(path, rig);
    case RecordingKind::kJointState:
      return import_joint_states(path, rig);
    case RecordingKind::kStateMcap:
      return import_state_mcap(path, rig);
    case RecordingKind::kMat:
      return import_mat(path, rig);
    case RecordingKind::kHdf5:
      return import_hdf5(path, rig);
    default:
      refuse_unsupported_kind(path, kind);
      return import_csv_of_any_kind(path, rig);
  }
}

}  // namespace service
