#include "service/cli/remote/job_spec.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "proto/text/files.hpp"
#include "service/options/option_message.hpp"
#include "service/options/parameter_values.hpp"
#include "service/rig/rig_file.hpp"

namespace service {
namespace {

using rigcal::v1::JobSpec;

constexpr std::string_view kSessionPrefix = "session:";

// Displays the file name, or the path if two recordings have the same file name.
std::string display_name(const std::string& path, const std::vector<std::string>& paths) {
  const auto file_name = [](const std::string& of) {
    return std::filesystem::path(of).filename().string();
  };
  const auto alike = std::count_if(paths.begin(), paths.end(), [&](const std::string& other) {
    return file_name(other) == file_name(path);
  });
  return alike > 1 ? path : file_name(path);
}

}  // namespace

JobSpec make_spec(const RemoteOptions& remote, const EstimationOptions& options,
                  const SessionOf& session_of) {
  JobSpec spec;
  spec.set_rig_name(std::filesystem::path(options.rig).filename().string());
  spec.set_rig_text(proto::read_file(options.rig));
  for (const std::string& path : options.recordings) {
    auto& recording = *spec.add_recordings();
    recording.set_session_id(session_of(path));
    if (!is_session(path)) recording.set_name(display_name(path, options.recordings));
    if (std::isfinite(options.selection.from)) recording.set_from_s(options.selection.from);
    if (std::isfinite(options.selection.to)) recording.set_to_s(options.selection.to);
    if (options.segments.empty()) continue;
    for (const int segment : parse_segment_list(options.segments)) recording.add_segments(segment);
  }
  if (!options.values.empty()) {
    const Rig rig = parse_rig(options.rig, spec.rig_text());
    for (const std::string& start :
         initial_value_edits(read_parameter_values(options.values), rig.mechanism)) {
      spec.add_start(start);
    }
  }
  // Options of the command line come last and take precedence.
  for (const std::string& start : options.edits.start) spec.add_start(start);
  spec.mutable_free()->Assign(options.edits.free.begin(), options.edits.free.end());
  spec.mutable_fix()->Assign(options.edits.fix.begin(), options.edits.fix.end());
  spec.mutable_hold_out()->Assign(options.edits.hold_out.begin(), options.edits.hold_out.end());
  *spec.mutable_estimation_options() = options_message(options.calibration, false);
  spec.set_skip_cross_validation(remote.skip_cross_validation);
  return spec;
}

bool is_session(const std::string& recording) { return recording.starts_with(kSessionPrefix); }

std::string session_id(const std::string& recording) {
  return recording.substr(kSessionPrefix.size());
}

}  // namespace service
