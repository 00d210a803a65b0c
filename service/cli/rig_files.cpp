#include "service/cli/rig_files.hpp"

#include <iostream>

#include "proto/text/files.hpp"
#include "proto/text/input_error.hpp"
#include "service/rig/robot/robot.hpp"

namespace service {
namespace {

void print_notes(const std::string& path, const std::vector<std::string>& notes) {
  for (const std::string& note : notes) std::cerr << "note: " << path << ": " << note << '\n';
}

void write_text(const std::string& path, const RobotFileText& robot) {
  print_notes(path, robot.notes);
  proto::write_file(path, robot.text);
}

}  // namespace

bool is_rig_file(const std::string& path) {
  return path.ends_with(".textproto") || path.ends_with(".txtpb") || path.ends_with(".pbtxt");
}

bool is_robot_file(const std::string& path) {
  return path.ends_with(".urdf") || path.ends_with(".xml") || path.ends_with(".mjcf");
}

void write_robot_description(const std::string& path, const Rig& rig,
                             const std::vector<std::string>& remarks) {
  const Robot robot = convert_rig_to_robot(rig);
  write_text(path,
             path.ends_with(".urdf") ? format_urdf(robot, remarks) : format_mjcf(robot, remarks));
}

bool has_requested_rig_files(const ResultFiles& files) {
  return !files.rig_out.empty() || !files.urdf_out.empty() || !files.mjcf_out.empty();
}

void write_rig_files(const std::string& rig_name, const std::string& rig_text,
                     const CalibratedParameters& calibrated, const ResultFiles& files,
                     const std::string& covariance) {
  if (!has_requested_rig_files(files)) return;
  CalibratedRigText written;
  try {
    written = write_calibrated_rig(
        rig_name, rig_text, calibrated,
        files.rig_out_priors ? PriorChange::kFromEstimates : PriorChange::kUnchanged);
  } catch (const proto::InputError& error) {
    for (const std::string& path : {files.rig_out, files.urdf_out, files.mjcf_out}) {
      if (path.empty()) continue;
      throw proto::InputError(path + ": was not written: " + error.what());
    }
  }
  if (!files.rig_out.empty()) {
    print_notes(files.rig_out, written.notes);
    proto::write_file(files.rig_out, written.text);
  }
  if (files.urdf_out.empty() && files.mjcf_out.empty()) return;
  const Robot robot = convert_rig_to_robot(parse_rig(rig_name, written.text));
  const std::vector<std::string> remarks = describe_estimates(calibrated, covariance);
  if (covariance.empty()) {
    std::cerr << "note: only the JSON contains the covariance of the estimates; add --json FILE\n";
  }
  if (!files.urdf_out.empty()) write_text(files.urdf_out, format_urdf(robot, remarks));
  if (!files.mjcf_out.empty()) write_text(files.mjcf_out, format_mjcf(robot, remarks));
}

}  // namespace service
