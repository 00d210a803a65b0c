#include "estimator/diagnostics/repair/diagnosed_calibration.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "estimator/calibrate/calibrate.hpp"
#include "estimator/calibrate/held_out_sensors.hpp"
#include "estimator/diagnostics/description/description_errors.hpp"
#include "estimator/diagnostics/misfit/misfit_causes.hpp"
#include "estimator/diagnostics/repair/suspected_jump.hpp"
#include "estimator/diagnostics/signal/channels.hpp"
#include "estimator/diagnostics/signal/finding_text.hpp"
#include "estimator/fit/input_checks.hpp"
#include "estimator/model/encoder.hpp"
#include "estimator/model/parameter_dependencies.hpp"
#include "estimator/signal/noise_level.hpp"
#include "estimator/signal/sample_gaps.hpp"

namespace estimator {
namespace {

/// Largest number of examinations of a calibration. A second repair rarely reveals further faults.
constexpr int kMaxExaminations = 3;

/// Smallest size of a slip that is reported [standard deviations].
constexpr double kSlipDeviationsMin = 2.0;
/// Smallest gap reported as lost time [rows].
constexpr double kLeastLost = 0.5;
/// Noise below which readings are exact [rad]; encoders have more noise or quantization.
constexpr double kExactNoise = 1e-6;
/// Time error due to the noise of a reading above which joints are almost at rest [rows].
constexpr double kSlow = 5.0;

void append(const std::vector<Finding>& more, std::vector<Finding>& findings) {
  findings.insert(findings.end(), more.begin(), more.end());
}

void apply(const SignalExamination& examination, DiagnosedInput& input) {
  const int first_finding = static_cast<int>(input.findings.size());
  append(examination.findings, input.findings);
  const std::vector<double> quanta =
      find_quantization_steps(used_encoders(input.mechanism), input.recordings);
  const auto first_offset = static_cast<int>(input.mechanism.parameters.size());
  for (std::size_t i = 0; i < examination.freed.size(); ++i) {
    const FreedEncoderOffset& freed = examination.freed[i];
    input.slips.push_back({first_finding + freed.finding, first_offset + static_cast<int>(i),
                           quanta[static_cast<std::size_t>(freed.sensor)]});
  }
  RepairedInput repaired = apply_repairs(input.mechanism, input.recordings, examination);
  input.mechanism = std::move(repaired.mechanism);
  input.recordings = std::move(repaired.recordings);
}

void withdraw_treatments(std::vector<Finding>& findings) {
  for (Finding& finding : findings) finding.treated = false;
}

/// Returns the recordings without dead channels, with which any description appears wrong.
std::vector<Recording> without_dead_channels(const DiagnosedInput& input) {
  std::vector<Recording> usable = input.recordings;
  std::erase_if(usable, [&](const Recording& recording) {
    return std::ranges::any_of(input.findings, [&](const Finding& finding) {
      return finding.message.code == MessageCode::kDeadChannel &&
             finding.recording == recording.name;
    });
  });
  return usable;
}

/// Replaces findings about slips by findings with the estimated sizes.
void update_slip_findings(const DiagnosedInput& input, Calibration& calibration) {
  for (const DiagnosedInput::EncoderSlip& slip : input.slips) {
    const std::string& name = input.mechanism.at(slip.parameter).name;
    const auto estimate = std::ranges::find(calibration.parameters, name, &ParameterEstimate::name);
    if (estimate == calibration.parameters.end() || !std::isfinite(estimate->standard_deviation) ||
        !(estimate->standard_deviation > 0.0)) {
      continue;
    }
    Finding& finding = calibration.findings[static_cast<std::size_t>(slip.finding)];
    if (finding.message.code != MessageCode::kEncoderSlip &&
        finding.message.code != MessageCode::kPossibleSlip) {
      continue;
    }
    const std::vector<Encoder> sensors = used_encoders(input.mechanism);
    const auto sensor = std::ranges::find(sensors, finding.channel, &Encoder::name);
    const double confidence = finding.confidence;
    finding = make_slip_finding(*sensor, finding.recording, finding.from, estimate->value,
                                estimate->standard_deviation, slip.quantum);
    finding.confidence = confidence;
  }
}

/// Sets the initial values in the result to those that the user gave, whatever a repeated
/// calibration started from.
void keep_initial(const std::vector<ParameterEstimate>& first,
                  std::vector<ParameterEstimate>& parameters) {
  for (const ParameterEstimate& begun : first) {
    const auto same = std::ranges::find(parameters, begun.name, &ParameterEstimate::name);
    if (same != parameters.end()) same->initial = begun.initial;
  }
}

DiagnosedCalibration trial_of(const SignalExamination& repair, const CalibrationOptions& options,
                              const CalibrationMonitor& monitor,
                              const DiagnosedCalibration& without) {
  DiagnosedCalibration trial{.calibration = {}, .input = without.input};
  copy_parameter_values(without.calibration.mechanism, trial.input.mechanism);
  apply(repair, trial.input);
  trial.calibration = calibrate(trial.input.mechanism, trial.input.recordings, options, monitor);
  return trial;
}

void keep(DiagnosedCalibration trial, DiagnosedCalibration& out) {
  keep_initial(out.calibration.parameters, trial.calibration.parameters);
  out = std::move(trial);
}

/// The modelled reading of one sensor at an end of a segment [rad or m], and its derivatives [per
/// row and row²] by a parabola through three rows.
struct SegmentEnd {
  double value, rate, curvature;
};

/// @param row     last or first row of the modelled readings
/// @param inward  −1 from the last row, +1 from the first
SegmentEnd end_of(const Eigen::MatrixXd& model, Eigen::Index row, Eigen::Index inward,
                  Eigen::Index sensor) {
  const double at = model(row, sensor), next = model(row + inward, sensor);
  const double curvature = model(row + 2 * inward, sensor) - 2.0 * next + at;
  return {at, static_cast<double>(inward) * (next - at - 0.5 * curvature), curvature};
}

/// The ends of the segments at a cut, one per sensor, and the estimated number of rows from the
/// last row before the cut to the first row after it.
struct CutMotion {
  std::vector<SegmentEnd> before, after;
  double rows = 1.0;
  double deviation = 0.0;  ///< standard deviation of `rows`, by the noise of one reading

  /// Returns whether the motion determines the number of rows. Fitted segment ends are more precise
  /// than a single reading.
  bool is_precise() const { return deviation < std::min(std::max(1.0, 0.5 * (rows - 1.0)), kSlow); }
};

/// Estimates the number of rows between two segments by the trapezoidal rule, corrected for
/// accelerations and weighted by the sensors' squared speeds. Returns nullopt without a model or
/// motion.
/// @param behind  index of the segment after the cut
std::optional<CutMotion> motion_at_cut(const Calibration& calibration, const Recording& recording,
                                       std::size_t behind) {
  constexpr int kRounds = 5;
  const auto model_of = [&](std::size_t segment) -> const Eigen::MatrixXd* {
    for (const SegmentTrajectory& trajectory : calibration.trajectories) {
      if (trajectory.recording != recording.name) continue;
      if (trajectory.start != recording.segments[segment].start) continue;
      return calibration.refined ? &trajectory.simulated : &trajectory.estimated;
    }
    return nullptr;
  };
  const Eigen::MatrixXd *const first = model_of(behind - 1), *const next = model_of(behind);
  if (first == nullptr || next == nullptr || first->rows() < 3 || next->rows() < 3) return {};
  CutMotion found;
  for (Eigen::Index i = 0; i < first->cols(); ++i) {
    found.before.push_back(end_of(*first, first->rows() - 1, -1, i));
    found.after.push_back(end_of(*next, 0, 1, i));
  }
  const std::vector<Encoder> sensors = used_encoders(calibration.mechanism);
  for (int round = 0; round < kRounds; ++round) {
    double along = 0.0, square = 0.0;
    for (std::size_t i = 0; i < sensors.size(); ++i) {
      const SegmentEnd &a = found.before[i], &b = found.after[i];
      const double noise = calibration.angle_noise[static_cast<Eigen::Index>(i)];
      const double rate = 0.5 * (a.rate + b.rate) / noise;
      const double bent = found.rows * found.rows * (b.curvature - a.curvature) / 12.0;
      along += rate * (sensors[i].reading_difference(b.value - a.value) + bent) / noise;
      square += rate * rate;
    }
    if (!(square > 0.0)) return {};
    found.rows = along / square;
    found.deviation = 1.0 / std::sqrt(square);
  }
  return found;
}

/// If the model is not accepted, tries free end stops where a joint rests at its furthest reading,
/// from the given values. Keeps the calibration with the better verdict.
void try_stops_at_rests(const CalibrationOptions& options, const CalibrationMonitor& monitor,
                        DiagnosedCalibration& out) {
  if (out.calibration.verdict.kind == VerdictKind::kAccepted) return;
  SignalExamination stops;
  const Mechanism& given = out.input.mechanism;
  find_stops_where_joints_rest(given,
                               find_quantization_steps(used_encoders(given), out.input.recordings),
                               out.input.recordings, stops);
  if (stops.stop_starts.empty()) return;
  DiagnosedCalibration trial{.calibration = {}, .input = out.input};
  apply(stops, trial.input);
  trial.calibration = calibrate(trial.input.mechanism, trial.input.recordings, options, monitor);
  if (is_stop_requested(monitor)) return;
  if (trial.calibration.verdict.kind < out.calibration.verdict.kind) keep(std::move(trial), out);
}

/// Adds a finding about a cut in a recording, based on the modelled motion on both sides.
/// @return whether time was lost at the cut
bool add_cut_finding(const RecordingCut& cut, DiagnosedCalibration& trial) {
  const Recording& recording = trial.input.recordings[static_cast<std::size_t>(cut.recording)];
  const auto behind = static_cast<std::size_t>(cut.segment) + 1;
  const std::optional<CutMotion> found = motion_at_cut(trial.calibration, recording, behind);
  if (!found) return false;
  const double period = recording.segments[behind].period;
  const double lost = (found->rows - 1.0) * period;
  if (!(lost > kLeastLost * period && lost <= kBridgedGapMax) || !found->is_precise()) return false;
  JumpExplanation explanation;
  explanation.cause = JumpCause::kLostTime;
  explanation.confidence = 1.0;
  explanation.lost_time = lost;
  explanation.time_deviation = found->deviation * period;
  const std::vector<Encoder> sensors = used_encoders(trial.input.mechanism);
  for (std::size_t i = 0; i < sensors.size(); ++i) {
    explanation.rates_before.push_back(found->before[i].rate / period);
    explanation.rates_after.push_back(found->after[i].rate / period);
    explanation.sizes.push_back(0.5 * (explanation.rates_before[i] + explanation.rates_after[i]) *
                                lost);
  }
  const auto size = [](double rate) { return std::abs(rate); };
  const auto fastest =
      std::ranges::max_element(explanation.rates_after, {}, size) - explanation.rates_after.begin();
  trial.input.findings.push_back(make_cut_finding(
      sensors, static_cast<int>(fastest), recording.name, recording.segments[behind].start,
      explanation,
      find_quantization_steps(sensors, trial.input.recordings)[static_cast<std::size_t>(fastest)]));
  return true;
}

/// Tries to repair a jump if the model is not accepted: frees the offset of the likeliest encoder
/// slip, then tries lost time at this instant. Keeps the first repair with which the model is
/// accepted.
void try_jump(const CalibrationOptions& options, const CalibrationMonitor& monitor,
              DiagnosedCalibration& out) {
  const VerdictKind verdict = out.calibration.verdict.kind;
  if (verdict == VerdictKind::kAccepted || verdict == VerdictKind::kNoFit) return;
  Mechanism estimate = out.input.mechanism;
  copy_parameter_values(out.calibration.mechanism, estimate);
  if (!is_single_jump_plausible(estimate, out.input.recordings, monitor)) return;
  const SuspectedJump jump = find_likeliest_jump(estimate, out.input.recordings, options, monitor);
  if (jump.slip.needs_repair()) {
    DiagnosedCalibration slipped = trial_of(jump.slip, options, monitor, out);
    if (is_stop_requested(monitor)) return;
    if (is_slip_confirmed(out.calibration, slipped.calibration,
                          slipped.input.mechanism.parameters.back().name)) {
      keep(std::move(slipped), out);
      return;
    }
  }
  for (const RecordingCut& loss : jump.lost_times) {
    SignalExamination cut;
    cut.cuts = {loss};
    DiagnosedCalibration parted = trial_of(cut, options, monitor, out);
    if (is_stop_requested(monitor)) return;
    if (parted.calibration.verdict.kind != VerdictKind::kAccepted || !add_cut_finding(loss, parted))
      continue;
    keep(std::move(parted), out);
    return;
  }
}

/// Returns whether the encoders' readings have neither noise nor quantization, as only a simulation
/// has. Its integration errors are then the largest differences from a correct model.
bool are_readings_exact(const DiagnosedInput& input) {
  const std::vector<Encoder> sensors = used_encoders(input.mechanism);
  for (const double quantum : find_quantization_steps(sensors, input.recordings)) {
    if (quantum > 0.0) return false;
  }
  for (const Recording& recording : input.recordings) {
    for (std::size_t i = 0; i < sensors.size(); ++i) {
      const double noise = estimate_noise_level(recording.segments, static_cast<Eigen::Index>(i));
      if (!(noise < kExactNoise * sensors[i].units().scale)) return false;
    }
  }
  return true;
}

/// Turns findings into notes if the model contradicts the recordings despite the repairs, since a
/// modelling error may cause them.
void downgrade_findings(int first, Calibration& calibration) {
  if (calibration.verdict.kind < VerdictKind::kApproximate) return;
  for (auto f = static_cast<std::size_t>(first); f < calibration.findings.size(); ++f) {
    downgrade_to_note(calibration.findings[f]);
  }
}

bool is_wrong_value(MessageCode cause) {
  return cause == MessageCode::kWrongLength || cause == MessageCode::kNoRoomForInertia ||
         cause == MessageCode::kWrongGain || cause == MessageCode::kWrongInertia ||
         cause == MessageCode::kWrongInertialParameter;
}

/// Replaces contradicted values of the rig description by the cause of the misfit, if it is not a
/// wrong value: a tilt or an eccentric disc, for example, resembles a wrong length.
void replace_contradictions_by_cause(Calibration& calibration) {
  const auto found = std::ranges::find(calibration.findings, MessageCode::kMisfitCause,
                                       [](const Finding& each) { return each.message.code; });
  if (found == calibration.findings.end() || calibration.contradictions.empty()) return;
  const Message cause = std::get<std::vector<Message>>(*found->message.find("causes")).front();
  if (is_wrong_value(cause.code)) return;
  calibration.contradictions.clear();
  std::erase_if(calibration.notes,
                [](const Message& note) { return note.code == MessageCode::kContradiction; });
  for (Message& reason : calibration.verdict.reasons) {
    if (reason.code == MessageCode::kContradictedValue) reason = cause;
  }
}

/// Returns whether recorded controls have noise and a linear regression explains all torques. The
/// rig description is then consistent with the recordings, and simulations, which noisy controls do
/// not determine, cannot show an error of it.
bool do_torques_confirm_description(const Mechanism& mechanism,
                                    const std::vector<Recording>& recordings,
                                    CalibrationOptions options) {
  if (std::ranges::none_of(mechanism.joints,
                           [](const Joint& joint) { return joint.motor.control_noise > 0.0; })) {
    return false;
  }
  options.linear = true;
  try {
    const Calibration linear = calibrate(mechanism, recordings, options, {});
    return std::ssize(linear.torque_predictions) == mechanism.joint_count() &&
           linear.verdict.kind < VerdictKind::kApproximate;
  } catch (const std::invalid_argument&) {
    return false;
  }
}

void examine_and_repair_description(const CalibrationOptions& options,
                                    const CalibrationMonitor& monitor, DiagnosedInput& input) {
  const std::vector<Recording> usable = without_dead_channels(input);
  if (is_stop_requested(monitor) || usable.empty()) return;
  if (do_torques_confirm_description(input.mechanism, usable, options)) return;
  DescriptionExamination description = examine_description(input.mechanism, usable, monitor);
  if (options.repair) {
    for (const InitialEncoderOffset& start : description.starts) {
      input.mechanism.at(start.parameter).value = start.value;
    }
    apply_dependencies(input.mechanism);
  } else {
    withdraw_treatments(description.findings);
  }
  append(description.findings, input.findings);
}

}  // namespace

bool remove_insignificant_slips(const Calibration& calibration, DiagnosedInput& input) {
  const auto is_insignificant = [&](const DiagnosedInput::EncoderSlip& slip) {
    const MessageCode code = input.findings[static_cast<std::size_t>(slip.finding)].message.code;
    if (code != MessageCode::kEncoderSlip && code != MessageCode::kPossibleSlip) return false;
    const auto estimate = std::ranges::find(
        calibration.parameters, input.mechanism.at(slip.parameter).name, &ParameterEstimate::name);
    return estimate != calibration.parameters.end() &&
           std::isfinite(estimate->standard_deviation) &&
           std::abs(estimate->value) < kSlipDeviationsMin * estimate->standard_deviation;
  };
  bool is_changed = false;
  // Slips are the last parameters, so that only indices of other slips change.
  for (auto slip = input.slips.begin(); slip != input.slips.end();) {
    if (!is_insignificant(*slip)) {
      ++slip;
      continue;
    }
    if (!is_changed) copy_parameter_values(calibration.mechanism, input.mechanism);
    const int finding = slip->finding, parameter = slip->parameter;
    slip = input.slips.erase(slip);
    input.findings.erase(input.findings.begin() + finding);
    input.mechanism.parameters.erase(input.mechanism.parameters.begin() + parameter);
    for (DiagnosedInput::EncoderSlip& each : input.slips) {
      each.finding -= each.finding > finding ? 1 : 0;
      each.parameter -= each.parameter > parameter ? 1 : 0;
    }
    for (Recording& recording : input.recordings) {
      for (Segment& segment : recording.segments) {
        std::erase_if(segment.shifts,
                      [&](const EncoderShift& shift) { return shift.parameter == parameter; });
        for (EncoderShift& shift : segment.shifts) {
          shift.parameter -= shift.parameter > parameter ? 1 : 0;
        }
      }
    }
    is_changed = true;
  }
  return is_changed;
}

bool has_fault(const std::vector<Finding>& findings) {
  return std::ranges::any_of(
      findings, [](const Finding& finding) { return finding.severity == Severity::kFault; });
}

void require_no_fault(const std::vector<Finding>& findings, const CalibrationOptions& options) {
  if (options.repair && has_fault(findings)) throw UnusableInput(findings);
}

DiagnosedInput examine_and_repair_input(const Mechanism& mechanism,
                                        const std::vector<Recording>& recordings,
                                        const CalibrationOptions& options,
                                        const SensorDescription& facts,
                                        const CalibrationMonitor& monitor) {
  DiagnosedInput input{mechanism, split_held_out_sensors(mechanism, recordings), {}, {}};
  check_input(mechanism, input.recordings);
  const SignalExamination examination = examine_signals(mechanism, input.recordings, facts);
  if (options.repair) {
    apply(examination, input);
  } else {
    input.findings = examination.findings;
    withdraw_treatments(input.findings);
  }
  if (!options.linear) examine_and_repair_description(options, monitor, input);
  return input;
}

DiagnosedCalibration calibrate_with_diagnostics(const Mechanism& mechanism,
                                                const std::vector<Recording>& recordings,
                                                const CalibrationOptions& options,
                                                const SensorDescription& facts,
                                                const CalibrationMonitor& monitor) {
  DiagnosedCalibration out;
  out.input = examine_and_repair_input(mechanism, recordings, options, facts, monitor);
  require_no_fault(out.input.findings, options);
  out.calibration = calibrate(out.input.mechanism, out.input.recordings, options, monitor);
  // Simulations that test the rig description take much longer than a regression.
  if (options.linear && out.calibration.verdict.kind >= VerdictKind::kApproximate) {
    examine_and_repair_description(options, monitor, out.input);
    require_no_fault(out.input.findings, options);
    out.calibration = calibrate(out.input.mechanism, out.input.recordings, options, monitor);
  }
  const std::vector<ParameterEstimate> first = out.calibration.parameters;
  const auto first_finding = static_cast<int>(out.input.findings.size());
  const bool repairs = options.repair && out.calibration.kind == EstimateKind::kPhysical;
  if (repairs && !is_stop_requested(monitor)) try_stops_at_rests(options, monitor, out);
  if (repairs && !is_stop_requested(monitor)) try_jump(options, monitor, out);
  bool changed = false;
  for (int round = 1; round <= kMaxExaminations && !is_stop_requested(monitor); ++round) {
    SignalExamination more = examine_residuals(out.calibration, out.input.recordings);
    if (!options.repair || round == kMaxExaminations || !more.needs_repair()) {
      withdraw_treatments(more.findings);
      append(more.findings, out.input.findings);
      break;
    }
    copy_parameter_values(out.calibration.mechanism, out.input.mechanism);
    apply(more, out.input);
    out.calibration = calibrate(out.input.mechanism, out.input.recordings, options, monitor);
    keep_initial(first, out.calibration.parameters);
    changed = true;
  }
  if (changed && !is_stop_requested(monitor)) try_jump(options, monitor, out);
  while (repairs && !is_stop_requested(monitor) &&
         remove_insignificant_slips(out.calibration, out.input)) {
    out.calibration = calibrate(out.input.mechanism, out.input.recordings, options, monitor);
    keep_initial(first, out.calibration.parameters);
  }
  out.calibration.findings = out.input.findings;
  update_slip_findings(out.input, out.calibration);
  downgrade_findings(first_finding, out.calibration);
  if (is_stop_requested(monitor)) return out;
  const bool is_accepted = out.calibration.verdict.kind == VerdictKind::kAccepted;
  if (!is_accepted && are_readings_exact(out.input)) {
    out.calibration.findings.push_back(make_finding(MessageCode::kExactReadings, "", ""));
  } else {
    append(find_misfit_causes(out.calibration, out.input.mechanism, out.input.recordings, monitor),
           out.calibration.findings);
    replace_contradictions_by_cause(out.calibration);
  }
  return out;
}

}  // namespace estimator
