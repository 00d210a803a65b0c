#include "service/calibration/pipeline.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "estimator/assessment/finding.hpp"
#include "estimator/assessment/intervals/estimate_table.hpp"
#include "estimator/calibrate/calibrate.hpp"
#include "estimator/calibrate/held_out_sensors.hpp"
#include "estimator/diagnostics/signal/channels.hpp"
#include "estimator/diagnostics/signal/signal_examination.hpp"
#include "estimator/model/encoder.hpp"
#include "service/messages/message_text.hpp"
#include "service/recordings/csv_recording.hpp"
#include "service/recordings/recording_selection.hpp"
#include "service/result/calibration_outcome.hpp"
#include "service/rig/parameters/parameter_edits.hpp"
#include "service/rig/rig_file.hpp"

namespace service {

using estimator::MessageCode;

namespace {

/// Returns whether an error in the rig file, rather than in the recording, can cause a finding.
bool is_about_the_file(MessageCode code) {
  using enum MessageCode;
  constexpr MessageCode kOfRecording[] = {kOutliers,    kNoiseTail,    kManyOutliers,
                                          kEncoderSlip, kPossibleSlip, kLostTime,
                                          kBreak,       kJump,         kClippedReadings};
  return std::ranges::count(kOfRecording, code) == 0;
}

/// Returns the code of a finding, or of its first cause.
MessageCode first_cause(const estimator::Message& message) {
  using enum MessageCode;
  if (message.code != kDescriptionError && message.code != kMisfitCause) return message.code;
  return std::get<std::vector<estimator::Message>>(*message.find("causes")).front().code;
}

/// Returns whether the channel of a finding is a motor.
bool is_of_motor(MessageCode cause) {
  using enum MessageCode;
  constexpr MessageCode kOfMotor[] = {kConstantCommand, kCommandBeyondLimit, kCommandAtLimit,
                                      kInvertedMotor,   kSwappedMotors,      kLateCommand,
                                      kEarlyCommand,    kClippedCommand};
  return std::ranges::count(kOfMotor, cause) > 0;
}

std::string place_of(const Rig& rig, const estimator::Finding& finding) {
  const std::vector<estimator::Encoder> sensors = estimator::all_encoders(rig.mechanism);
  if (finding.message.code == MessageCode::kWrongQuantum) {
    const auto sensor = std::ranges::find(sensors, finding.channel, &estimator::Encoder::name);
    if (sensor == sensors.end()) return "";
    return rig.encoders[static_cast<std::size_t>(sensor - sensors.begin())].place;
  }
  const MessageCode cause = first_cause(finding.message);
  const bool is_of_column =
      cause != MessageCode::kMisplacedStop && cause != MessageCode::kLimitBeyondStop;
  if (!rig.format || !is_of_column) return "";
  if (is_of_motor(cause)) {
    const auto& columns = rig.format->controls;
    const auto column = std::ranges::find(columns, finding.channel, &ControlColumn::joint);
    return column == columns.end() ? "" : column->place;
  }
  const auto& columns = rig.format->angles;
  const auto column = std::ranges::find(columns, finding.channel, &EncoderColumn::joint);
  return column == columns.end() ? "" : column->place;
}

/// Returns what the rig file says about the sensors in use.
estimator::SensorDescription sensor_facts(const Rig& rig) {
  estimator::SensorDescription facts;
  const std::vector<estimator::Encoder> sensors = estimator::all_encoders(rig.mechanism);
  for (std::size_t i = 0; i < sensors.size(); ++i) {
    if (std::ranges::count(rig.mechanism.held_out, sensors[i].name) > 0) continue;
    facts.quantum.push_back(rig.encoders[i].count);
    facts.limits.push_back(rig.encoders[i].limits);
  }
  for (std::size_t j = 0; j < rig.mechanism.joints.size(); ++j) {
    if (!rig.mechanism.joints[j].motor.present) continue;
    const JointProperties& motor = rig.joint_properties[j];
    const double stated = motor.safety ? motor.safety->command_max : 0.0;
    facts.command_limit.push_back(stated > 0.0 ? stated : motor.control_max);
  }
  return facts;
}

/// Appends to the advice of each finding on a column or an encoder the line of the rig file to
/// check or correct.
void add_source_locations(const Rig& rig, std::vector<estimator::Finding>& findings) {
  for (estimator::Finding& finding : findings) {
    if (finding.channel.empty() || !is_about_the_file(finding.message.code)) continue;
    finding.place = place_of(rig, finding);
  }
}

using estimator::Recording;
using estimator::Segment;

/// Returns the row of a segment at a time; −1 if the segment has no row at this time.
Eigen::Index row_at(const Segment& segment, double time) {
  const int row = segment.first_sample_at_or_after(time - segment.start);
  if (row < 0 || row >= segment.sample_count()) return -1;
  const double slack = estimator::kSampleTolerance * segment.period;
  return std::abs(segment.start + segment.time(row) - time) <= slack ? row : -1;
}

/// Checks whether a reading is missing in all segments. Repairs split segments but remove no rows.
bool is_gone(const Recording& repaired, double time, Eigen::Index sensor) {
  return std::ranges::none_of(repaired.segments, [&](const Segment& segment) {
    const Eigen::Index row = row_at(segment, time);
    return row >= 0 && std::isfinite(segment.angles(row, sensor));
  });
}

/// Checks whether a reading repeats another one, according to the findings of its encoder.
bool is_repetition(const Recording& recording, const Segment& segment, Eigen::Index row,
                   Eigen::Index sensor, const std::string& encoder,
                   const std::vector<estimator::Finding>& findings) {
  const double time = segment.start + segment.time(row);
  return std::ranges::any_of(findings, [&](const estimator::Finding& finding) {
    if (finding.recording != recording.name || finding.channel != encoder) return false;
    if (finding.message.code == estimator::MessageCode::kRepeatedReadings) {
      return row > 0 && segment.angles(row, sensor) == segment.angles(row - 1, sensor);
    }
    return finding.message.code == estimator::MessageCode::kRestIntervals &&
           std::ranges::any_of(finding.intervals, [&](const estimator::TimeInterval& rest) {
             return time >= rest.from && time <= rest.to;
           });
  });
}

class WallTime {
 public:
  explicit WallTime(double& out) : out_(out) {}
  WallTime(const WallTime&) = delete;
  WallTime& operator=(const WallTime&) = delete;
  ~WallTime() {
    out_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  double& out_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// Returns the sentence and the advice of the first fault.
std::string first_fault(const std::vector<estimator::Finding>& findings) {
  const FindingText fault = describe_finding(
      *std::ranges::find(findings, estimator::Severity::kFault, &estimator::Finding::severity));
  return fault.what + "; " + fault.advice;
}

/// Runs `work` and returns its result. Exceptions of the estimator get the names of the input
/// files.
template <typename Work>
auto with_faults_named(const CalibrationInput& input, Work&& work) {
  try {
    require_valid_mechanism(input.rig.mechanism);
    return work();
  } catch (estimator::UnusableInput& fault) {
    const std::string first = first_fault(fault.findings);
    add_source_locations(input.rig, fault.findings);
    throw FaultyInput(describe_estimator_failure(input, first), std::move(fault.findings));
  } catch (const std::invalid_argument& fault) {
    throw proto::InputError(describe_estimator_failure(input, fault.what()));
  }
}

/// @param findings  all findings of the examination
void take_over(estimator::DiagnosedInput&& examined,
               const std::vector<estimator::Finding>& findings, CalibrationInput& input) {
  const std::vector<RejectedReading> held =
      find_rejected_readings(input.recordings, examined.recordings, input.rig.mechanism, findings);
  input.context.held.insert(input.context.held.end(), held.begin(), held.end());
  input.rig.mechanism = std::move(examined.mechanism);
  input.recordings = std::move(examined.recordings);
}

/// Returns the message on irregular time stamps of a recording if it is a finding: if the model is
/// not accepted, wrong time stamps may be the cause.
std::string describe_suspicious_times(const UsedRecording& use,
                                      const estimator::Calibration& calibration) {
  const bool is_accepted = calibration.verdict.kind == estimator::VerdictKind::kAccepted;
  return is_accepted ? "" : describe_irregular_times(use.summary);
}

void add_time_findings(const CalibrationInput& input, estimator::Calibration& calibration) {
  for (const UsedRecording& use : input.context.recordings) {
    const std::string text = describe_suspicious_times(use, calibration);
    if (text.empty()) continue;
    estimator::Finding finding = estimator::make_finding(text, use.summary.file);
    finding.severity = estimator::Severity::kWarning;
    calibration.findings.push_back(std::move(finding));
  }
}

/// Sets the notes of a calibration in this order: joints that the model does not reproduce, choices
/// of the estimator, conflicts with priors, import.
void add_notes(const CalibrationInput& input, estimator::Calibration& calibration) {
  std::vector<estimator::Message> notes = describe_unexplained_joints(calibration);
  notes.insert(notes.end(), calibration.notes.begin(), calibration.notes.end());
  for (const estimator::PriorConflict& conflict : calibration.conflicts) {
    const auto place = input.rig.prior_locations.find(conflict.parameter);
    estimator::Message& note = notes.emplace_back(estimator::make_prior_conflict_note(conflict));
    if (place != input.rig.prior_locations.end()) {
      note.arguments.push_back({"place", place->second});
    }
  }
  notes.insert(notes.end(), input.changes.begin(), input.changes.end());
  for (const UsedRecording& use : input.context.recordings) {
    const std::string finding = describe_suspicious_times(use, calibration);
    for (const std::string& note : describe_import(use.summary)) {
      if (note != finding) notes.emplace_back(note);
    }
  }
  calibration.notes = std::move(notes);
}

/// Sets the kind, step and weight that the options leave open to those of the given values. Shadow
/// parameters are valid only for the step and the weight with which they were estimated.
void take_choices(const ParameterValues& values, estimator::CalibrationOptions& options) {
  if (!options.kind) options.kind = values.kind;
  if (options.kind != estimator::EstimateKind::kShadow) return;
  if (options.step == 0.0) options.step = values.step;
  if (options.state_error_weight == 0.0) options.state_error_weight = values.state_error_weight;
}

/// Returns the windows of a validation without most readings at rest: they repeat one quantization
/// error, which may be 1.7 times as large as the noise of readings in motion. Windows are thinned
/// separately, so each keeps readings of every encoder. The rejected readings are appended to
/// `held`.
std::vector<Recording> without_rest(const estimator::Mechanism& mechanism,
                                    std::vector<Recording> windows,
                                    std::vector<RejectedReading>& held) {
  windows = estimator::split_held_out_sensors(mechanism, std::move(windows));
  std::vector<double> quanta =
      estimator::find_quantization_steps(estimator::used_encoders(mechanism), windows);
  const estimator::SignalExamination rests = estimator::find_all_rest_intervals(
      mechanism, windows, Eigen::VectorXd::Map(quanta.data(), std::ssize(quanta)));
  std::vector<Recording> thinned = windows;
  for (std::size_t r = 0; r < thinned.size(); ++r) {
    thinned[r] = without_rejected(std::move(thinned[r]), static_cast<int>(r), rests.rejected);
  }
  const std::vector<RejectedReading> rejected =
      find_rejected_readings(windows, thinned, mechanism, rests.findings);
  held.insert(held.end(), rejected.begin(), rejected.end());
  return thinned;
}

void note_short_segments(const CalibrationInput& input, double window,
                         estimator::Validation& validation) {
  for (const estimator::Recording& recording : input.recordings) {
    for (const estimator::Segment& segment : recording.segments) {
      if (segment.duration() + segment.period >= window) continue;
      validation.notes.push_back(
          recording.name + ": a segment is shorter than the window and was evaluated as a whole");
    }
  }
}

}  // namespace

std::vector<RejectedReading> find_rejected_readings(
    const std::vector<Recording>& read, const std::vector<Recording>& repaired,
    const estimator::Mechanism& mechanism, const std::vector<estimator::Finding>& findings) {
  const std::vector<estimator::Encoder> encoders = estimator::used_encoders(mechanism);
  std::vector<RejectedReading> held;
  for (std::size_t r = 0; r < std::min(read.size(), repaired.size()); ++r) {
    for (const Segment& segment : read[r].segments) {
      for (Eigen::Index row = 0; row < segment.angles.rows(); ++row) {
        const double time = segment.start + segment.time(row);
        for (Eigen::Index sensor = 0; sensor < segment.angles.cols(); ++sensor) {
          const double value = segment.angles(row, sensor);
          if (!std::isfinite(value) || !is_gone(repaired[r], time, sensor)) continue;
          held.push_back(
              {read[r].name, static_cast<int>(sensor), time, value,
               is_repetition(read[r], segment, row, sensor,
                             encoders[static_cast<std::size_t>(sensor)].name, findings)});
        }
      }
    }
  }
  return held;
}

estimator::DiagnosedInput diagnose_input(const CalibrationInput& input,
                                         const estimator::CalibrationMonitor& monitor) {
  return with_faults_named(input, [&] {
    estimator::DiagnosedInput examined = estimator::examine_and_repair_input(
        input.rig.mechanism, input.recordings, input.context.options, sensor_facts(input.rig),
        monitor);
    add_source_locations(input.rig, examined.findings);
    return examined;
  });
}

std::vector<estimator::Finding> diagnose_and_repair_input(CalibrationInput& input) {
  estimator::DiagnosedInput examined = diagnose_input(input);
  with_faults_named(input, [&] {
    estimator::require_no_fault(examined.findings, input.context.options);
    return 0;
  });
  std::vector<estimator::Finding> findings = std::move(examined.findings);
  take_over(std::move(examined), findings, input);
  return findings;
}

estimator::Calibration run_calibration(CalibrationInput& input,
                                       const estimator::CalibrationMonitor& monitor) {
  const WallTime timed(input.context.wall_time);
  estimator::DiagnosedCalibration examined = with_faults_named(input, [&] {
    return estimator::calibrate_with_diagnostics(input.rig.mechanism, input.recordings,
                                                 input.context.options, sensor_facts(input.rig),
                                                 monitor);
  });
  add_notes(input, examined.calibration);
  add_time_findings(input, examined.calibration);
  add_source_locations(input.rig, examined.calibration.findings);
  take_over(std::move(examined.input), examined.calibration.findings, input);
  return std::move(examined.calibration);
}

estimator::CrossValidation run_cross_validation(CalibrationInput& input,
                                                const std::vector<estimator::Recording>& parts,
                                                const estimator::CalibrationMonitor& monitor,
                                                const std::function<void(int)>& on_fold) {
  const WallTime timed(input.context.wall_time);
  return with_faults_named(input, [&] {
    return estimator::cross_validate(input.rig.mechanism, parts, input.context.options, monitor,
                                     on_fold);
  });
}

estimator::FrictionLawComparison run_friction_law_comparison(
    CalibrationInput& input, const std::vector<estimator::Recording>& parts,
    const estimator::FrictionLawComparisonOptions& choice,
    const estimator::CalibrationMonitor& monitor,
    const std::function<void(const estimator::FrictionLaw& law, int fold)>& on_fold) {
  const WallTime timed(input.context.wall_time);
  return with_faults_named(input, [&] {
    return estimator::compare_friction_laws(input.rig.mechanism, parts, choice,
                                            input.context.options, monitor, on_fold);
  });
}

estimator::Validation run_validation(const CalibrationRequest& request, double window, double start,
                                     CalibrationInput& input,
                                     const estimator::CalibrationMonitor& monitor,
                                     const std::function<void(int index, int count)>& on_window) {
  take_choices(request.values, input.context.options);
  std::vector<estimator::Recording> parts = cut_into_windows(input.recordings, window);
  int count = 0;
  for (const auto& part : parts) count += static_cast<int>(part.segments.size());
  estimator::Mechanism rig = parse_rig(request.rig_name, request.rig_text).mechanism;
  rig.held_out = input.rig.mechanism.held_out;
  try {
    const WallTime timed(input.context.wall_time);
    parts = without_rest(input.rig.mechanism, std::move(parts), input.context.held);
    estimator::Validation validation =
        estimator::validate_parameters(rig, input.rig.mechanism, parts, input.context.options,
                                       start, monitor, [&](int index) { on_window(index, count); });
    note_short_segments(input, window, validation);
    return validation;
  } catch (const std::invalid_argument& fault) {
    throw proto::InputError(describe_estimator_failure(input, fault.what()) +
                            (window > 0.0 ? ", or give a longer --window" : ""));
  }
}

}  // namespace service
