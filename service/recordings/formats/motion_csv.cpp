#include "service/recordings/formats/motion_csv.hpp"

#include <algorithm>

#include "proto/text/input_error.hpp"
#include "service/recordings/formats/joint_motion.hpp"
#include "service/recordings/formats/mcap_recording.hpp"

namespace service {
namespace {

/// Columns to read from a file that may lack some of the columns.
class MotionRequests {
 public:
  explicit MotionRequests(const std::vector<std::string>& header) : header_(header) {}

  int add(const proto::ColumnRequest& request) {
    requests.push_back(request);
    return static_cast<int>(requests.size()) - 1;
  }
  /// Requests a column and returns its index; −1 if the file lacks the column.
  int find(const std::string& name, proto::MissingCells missing) {
    return std::ranges::count(header_, name) > 0 ? add({name, missing}) : -1;
  }

  std::vector<proto::ColumnRequest> requests;

 private:
  const std::vector<std::string>& header_;
};

std::string truth_angle(std::size_t joint) { return "theta" + std::to_string(joint + 1) + "_rad"; }

/// Removes the rows in which a column is not 0. @return number of removed rows
int drop_rows_of(std::size_t column, proto::CsvTable& table) {
  const std::vector<double> drops = table.values[column];
  const auto drop = [&](auto& rows) {
    std::size_t kept = 0;
    for (std::size_t k = 0; k < drops.size(); ++k) {
      if (drops[k] == 0.0) rows[kept++] = rows[k];
    }
    rows.resize(kept);
  };
  for (std::vector<double>& values : table.values) drop(values);
  drop(table.lines);
  return static_cast<int>(drops.size() - table.lines.size());
}

}  // namespace

bool is_state_csv(const std::vector<std::string>& header) {
  return header.size() > 3 && header[0] == "recording" && header[1] == "t_s" &&
         header[3] == header[2] + "_sd";
}

ImportedRecording import_state_csv(const std::string& path, std::string_view text, const Rig& rig) {
  const std::vector<std::string> header = proto::parse_csv_header(path, text);
  JointMotion motion;
  MotionRequests columns(header);
  motion.segment = columns.add({.name = "recording", .kind = proto::CellKind::kName});
  motion.time = columns.add({.name = "t_s"});
  for (const estimator::Joint& joint : rig.mechanism.joints) {
    motion.joints.push_back(
        columns.find(joint.name + "_" + joint.units().coordinate, proto::MissingCells::kAllowed));
    if (!joint.motorised) continue;
    motion.controls.push_back(
        columns.find(joint.name + "_control", proto::MissingCells::kForbidden));
  }
  motion.table = proto::parse_csv(path, text, columns.requests);
  ImportedRecording imported = import_joint_motion(motion, rig);
  note_estimated_states(imported.summary);
  return imported;
}

bool is_truth_csv(const std::vector<std::string>& header) {
  return header.size() > 3 && header[0] == "time_s" && header[1] == "unit_time_us" &&
         header[2] == "sample_sequence" && header[3] == truth_angle(0);
}

ImportedRecording import_truth_csv(const std::string& path, std::string_view text, const Rig& rig) {
  const std::vector<std::string> header = proto::parse_csv_header(path, text);
  const estimator::Mechanism& mechanism = rig.mechanism;
  std::size_t joints = 0;
  while (std::ranges::count(header, truth_angle(joints)) > 0) ++joints;
  const auto motors = std::ranges::count(mechanism.joints, true, &estimator::Joint::motorised);
  if (joints != mechanism.joints.size() || motors > 1) {
    throw proto::InputError(path + ": motion of a simulated rig with " + std::to_string(joints) +
                            " joints and one motor, but " + rig.path + " has " +
                            std::to_string(mechanism.joints.size()) + " joints and " +
                            std::to_string(motors) +
                            " motors. Use the rig file of the simulated rig");
  }
  JointMotion motion;
  MotionRequests columns(header);
  motion.time = columns.add({.name = "time_s"});
  for (std::size_t j = 0; j < joints; ++j) motion.joints.push_back(columns.add({truth_angle(j)}));
  if (motors > 0) motion.controls.push_back(columns.add({.name = "command_V"}));
  const int held = columns.add({.name = "held"});
  motion.table = proto::parse_csv(path, text, columns.requests);
  const int rows_before_release = drop_rows_of(static_cast<std::size_t>(held), motion.table);
  if (motion.table.lines.empty()) {
    throw proto::InputError(path +
                            ": the rig was never released, so the recording has no free motion. "
                            "Release it (hand { release: ... })");
  }
  ImportedRecording imported = import_joint_motion(motion, rig);
  note_rows_before_release(rows_before_release, imported.summary);
  imported.summary.rows += rows_before_release;
  return imported;
}

}  // namespace service
