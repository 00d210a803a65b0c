#include "service/calibration/calibration_input.hpp"

#include <algorithm>
#include <utility>

#include "proto/text/files.hpp"
#include "proto/text/input_error.hpp"
#include "service/recordings/formats/recording_file.hpp"
#include "service/recordings/joined_segments.hpp"
#include "service/result/result_message.hpp"
#include "service/text/number_format.hpp"

namespace service {
namespace {

// The fastest measured case, with two angles, takes 4 µs per step and iteration
// (docs/performance.md); a calibration needs at least one iteration.
constexpr double kStepTime = 1e-6;  // [s]

// Steps are counted in 32 bits, several counts per step.
constexpr double kStepCountMax = 1e8;

/// Checks that no recording file is given twice.
/// @throws InputError if a file is given twice, even by different paths
void check_distinct(const std::vector<RecordingSource>& sources) {
  std::vector<std::string> before;
  for (const RecordingSource& source : sources) {
    if (proto::is_among(source.path, before)) {
      throw proto::InputError((source.name.empty() ? source.path : source.name) +
                              ": given twice, so its samples would count twice. Give it once");
    }
    before.push_back(source.path);
  }
}

/// Replaces the path of a recording in a message by the display name of the recording.
std::string with_name(std::string text, const RecordingSource& source) {
  if (source.name.empty()) return text;
  for (std::size_t at = text.find(source.path); at != std::string::npos;
       at = text.find(source.path, at)) {
    text.replace(at, source.path.size(), source.name);
    at += source.name.size();
  }
  return text;
}

void add_recording(const RecordingSource& source, const RecordingReader& read,
                   CalibrationInput& input) {
  try {
    ImportedRecording imported =
        read ? read(source, input.rig) : import_recording(source.path, input.rig, source.selection);
    std::vector<UsedSegment> uses = keep_selected_part(source.selection, imported);
    const std::string& name = source.name.empty() ? source.path : source.name;
    imported.summary.file = imported.recording.name = name;
    for (std::string& note : imported.summary.notes) note = with_name(std::move(note), source);
    input.recordings.push_back(std::move(imported.recording));
    input.context.recordings.push_back(
        {std::move(imported.summary), std::move(uses), compute_file_digest(source.path)});
  } catch (const proto::InputError& error) {
    throw proto::InputError(with_name(error.what(), source));
  }
}

/// Returns the fixed parameters whose values differ from those in the rig file.
std::vector<estimator::Parameter> kept_otherwise(const estimator::Mechanism& file,
                                                 const estimator::Mechanism& given) {
  std::vector<estimator::Parameter> kept;
  for (std::size_t i = 0; i < given.parameters.size(); ++i) {
    const estimator::Parameter& parameter = given.parameters[i];
    const bool is_dependent_parameter =
        estimator::find_dependency(given, static_cast<int>(i)) != nullptr;
    if (parameter.free || is_dependent_parameter || parameter.value == file.parameters[i].value)
      continue;
    kept.push_back(parameter);
  }
  return kept;
}

std::vector<std::string> control_labels(const Rig& rig) {
  std::vector<std::string> labels;
  for (std::size_t j = 0; j < rig.joint_properties.size(); ++j) {
    const estimator::Joint& joint = rig.mechanism.joints[j];
    if (!joint.motor.present) continue;
    labels.push_back("joint " + joint.name + " [" + rig.joint_properties[j].control_unit + "]");
  }
  return labels;
}

}  // namespace

void check_time_limit(const std::vector<estimator::Recording>& recordings, double step,
                      double duration_s) {
  double longest = 0.0, together = 0.0, period = 0.0;  // [s]
  for (const estimator::Recording& recording : recordings) {
    for (const estimator::Segment& segment : recording.segments) {
      const double duration = segment.duration();
      longest = std::max(longest, duration);
      together += duration;
      if (period == 0.0) period = segment.period;
    }
  }
  if (!(step >= 0.0))
    throw proto::InputError("the step must be positive. Correct it or leave it out");
  if (step > 0.0 && step > longest) {
    throw proto::InputError("a step of " + format_number(step, 4) +
                            " s is longer than the longest segment, " + format_number(longest, 4) +
                            " s. Choose a few sampling periods");
  }
  const double steps = together / (step > 0.0 ? std::min(step, longest) : std::max(period, 1e-9));
  const double most = std::min(kStepCountMax, duration_s / kStepTime);
  if (steps <= most) return;
  throw proto::InputError(
      "a step of " + format_number(step > 0.0 ? step : period, 4) + " s gives " +
      format_number(steps, 4) + " steps for " + format_number(together, 4) +
      " s of recordings, more than can be computed" +
      (most < kStepCountMax ? " within " + format_number(duration_s, 4) + " s" : "") +
      ". Choose a longer step or use a part of the recordings");
}

CalibrationInput load_calibration_input(const CalibrationRequest& request,
                                        const RecordingReader& read) {
  CalibrationInput input;
  input.rig_name = request.rig_name;
  input.rig = parse_rig(request.rig_name, request.rig_text);
  const estimator::Mechanism in_file = input.rig.mechanism;
  apply_parameter_values(request.values, input.rig.mechanism);
  apply_parameter_edits(request.edits, input.rig.mechanism);
  input.changes = describe_parameter_changes(in_file, input.rig.mechanism);
  check_distinct(request.recordings);
  for (const RecordingSource& source : request.recordings) add_recording(source, read, input);
  const std::string& name = input.rig.mechanism.name;
  input.context.rig = name.empty() ? request.rig_name : name;
  input.context.controls = control_labels(input.rig);
  input.context.version = request.version;
  input.context.options = request.options;
  input.context.date = current_utc_time();
  input.context.request = request;
  input.context.kept = kept_otherwise(in_file, input.rig.mechanism);
  unify_sampling_periods(input.recordings);
  check_time_limit(input.recordings, request.options.step, request.duration_s_max);
  return input;
}

std::string describe_estimator_failure(const CalibrationInput& input, const std::string& failure) {
  const auto& recordings = input.context.recordings;
  std::string files = recordings.front().summary.file;
  if (recordings.size() > 1) {
    files += " and " + std::to_string(recordings.size() - 1) + " more";
  }
  return files + " with " + input.rig_name + ": " + failure;
}

}  // namespace service
