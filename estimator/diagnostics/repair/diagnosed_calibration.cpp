#include "estimator/diagnostics/repair/diagnosed_calibration.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "estimator/calibrate/calibrate.hpp"
#include "estimator/calibrate/held_out_sensors.hpp"
#include "estimator/diagnostics/description/description_errors.hpp"
#include "estimator/diagnostics/misfit/misfit_causes.hpp"
#include "estimator/diagnostics/misfit/single_jump_test.hpp"
#include "estimator/diagnostics/repair/gap_command_steps.hpp"
#include "estimator/diagnostics/repair/lost_rows.hpp"
#include "estimator/diagnostics/repair/slip_trial.hpp"
#include "estimator/diagnostics/signal/finding_text.hpp"
#include "estimator/fit/input_checks.hpp"
#include "estimator/model/encoder.hpp"
#include "estimator/model/parameter_dependencies.hpp"

namespace estimator {
namespace {

/// Largest number of examinations of a calibration. A second repair rarely reveals further faults.
constexpr int kMaxExaminations = 3;

/// Number of other rows tried for a command step in a gap if the best is not confirmed.
constexpr std::size_t kOtherRows = 3;

void append(const std::vector<Finding>& more, std::vector<Finding>& findings) {
  findings.insert(findings.end(), more.begin(), more.end());
}

void apply(const SignalExamination& examination, DiagnosedInput& input) {
  const int first_finding = static_cast<int>(input.findings.size());
  append(examination.findings, input.findings);
  const std::vector<double> quanta =
      observed_quanta(used_encoders(input.mechanism), input.recordings);
  const auto first_offset = static_cast<int>(input.mechanism.parameters.size());
  for (std::size_t i = 0; i < examination.freed.size(); ++i) {
    const FreedOffset& freed = examination.freed[i];
    input.slips.push_back({first_finding + freed.finding, first_offset + static_cast<int>(i),
                           quanta[static_cast<std::size_t>(freed.sensor)]});
  }
  RepairedInput repaired = repair(input.mechanism, input.recordings, examination);
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
  for (const DiagnosedInput::Slip& slip : input.slips) {
    const std::string& name =
        input.mechanism.parameters[static_cast<std::size_t>(slip.parameter)].name;
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
    finding = slip_finding(*sensor, finding.recording, finding.from, estimate->value,
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

/// A calibration with a repair that is tried.
struct Trial {
  DiagnosedInput input;
  Calibration calibration;
};

Trial trial_of(const SignalExamination& repair, const CalibrationOptions& options,
               const CalibrationMonitor& monitor, const DiagnosedCalibration& without) {
  Trial trial{without.input, {}};
  copy_parameter_values(without.calibration.mechanism, trial.input.mechanism);
  apply(repair, trial.input);
  trial.calibration = calibrate(trial.input.mechanism, trial.input.recordings, options, monitor);
  return trial;
}

void keep(Trial trial, DiagnosedCalibration& out) {
  keep_initial(out.calibration.parameters, trial.calibration.parameters);
  out.calibration = std::move(trial.calibration);
  out.input = std::move(trial.input);
}

/// Adds a finding about a cut in a recording, based on the modelled motion on both sides.
/// @return whether time was lost at the cut
bool add_cut_finding(const Cut& cut, Trial& trial) {
  const Recording& recording = trial.input.recordings[static_cast<std::size_t>(cut.recording)];
  const int behind = cut.segment + 1;
  const JumpExplanation explanation = explain_cut(trial.calibration, recording, behind);
  if (explanation.cause != JumpCause::kLostTime) return false;
  const std::vector<Encoder> sensors = used_encoders(trial.input.mechanism);
  const auto size = [](double rate) { return std::abs(rate); };
  const auto fastest =
      std::ranges::max_element(explanation.rates_after, {}, size) - explanation.rates_after.begin();
  trial.input.findings.push_back(cut_finding(
      sensors, static_cast<int>(fastest), recording.name,
      recording.segments[static_cast<std::size_t>(behind)].start, explanation,
      observed_quanta(sensors, trial.input.recordings)[static_cast<std::size_t>(fastest)]));
  return true;
}

/// Tries to repair a jump if the model is rejected: frees the offset of the likeliest encoder slip,
/// then tries lost time at this instant. Keeps the first repair with which the model is accepted.
void try_jump(const CalibrationOptions& options, const CalibrationMonitor& monitor,
              DiagnosedCalibration& out) {
  const VerdictKind verdict = out.calibration.verdict.kind;
  if (verdict != VerdictKind::kDoubtful && verdict != VerdictKind::kRejected) return;
  Mechanism estimate = out.input.mechanism;
  copy_parameter_values(out.calibration.mechanism, estimate);
  if (!is_single_jump_plausible(estimate, out.input.recordings, monitor)) return;
  const SuspectedJump jump = find_likeliest_jump(estimate, out.input.recordings, options, monitor);
  if (jump.slip.needs_repair()) {
    Trial slipped = trial_of(jump.slip, options, monitor, out);
    if (is_stopped(monitor)) return;
    if (is_slip_confirmed(out.calibration, slipped.calibration,
                          slipped.input.mechanism.parameters.back().name)) {
      keep(std::move(slipped), out);
      return;
    }
  }
  for (const Cut& loss : jump.lost_times) {
    SignalExamination cut;
    cut.cuts = {loss};
    Trial parted = trial_of(cut, options, monitor, out);
    if (is_stopped(monitor)) return;
    if (parted.calibration.verdict.kind != VerdictKind::kAccepted || !add_cut_finding(loss, parted))
      continue;
    keep(std::move(parted), out);
    return;
  }
}

/// Joins segments that were cut for lost time if a whole number of rows was lost. One long motion
/// is more informative than two short ones.
void try_lost_rows(const CalibrationOptions& options, const CalibrationMonitor& monitor,
                   DiagnosedCalibration& out) {
  if (out.calibration.verdict.kind != VerdictKind::kAccepted) return;
  const std::vector<LostRows> lost =
      find_lost_rows(out.calibration, out.input.recordings, out.input.findings);
  if (lost.empty()) return;
  DiagnosedInput input = out.input;
  input.recordings = with_lost_rows(std::move(input.recordings), lost);
  copy_parameter_values(out.calibration.mechanism, input.mechanism);
  Calibration joined = calibrate(input.mechanism, input.recordings, options, monitor);
  if (is_stopped(monitor) ||
      !are_rows_confirmed(out.calibration, joined, static_cast<int>(lost.size()))) {
    return;
  }
  for (const LostRows& each : lost) {
    Message& message = input.findings[static_cast<std::size_t>(each.finding)].message;
    message.code = MessageCode::kInsertedRows;
    message.arguments.push_back({"rows", each.rows});
  }
  keep_initial(out.calibration.parameters, joined.parameters);
  out.calibration = std::move(joined);
  out.input = std::move(input);
}

/// Joins segments across gaps with a command step if the motion identifies the step's row.
void try_gap_command_steps(const CalibrationOptions& options, const CalibrationMonitor& monitor,
                           DiagnosedCalibration& out) {
  if (out.calibration.verdict.kind != VerdictKind::kAccepted) return;
  const std::vector<GapCommandStep> said =
      find_gap_command_steps(out.calibration, out.input.recordings);
  if (said.empty()) return;
  std::vector<std::size_t> doubtful(said.size());
  std::iota(doubtful.begin(), doubtful.end(), 0U);
  std::ranges::sort(doubtful, std::greater<>(), [&](std::size_t i) { return said[i].doubt; });
  DiagnosedInput input = out.input;
  copy_parameter_values(out.calibration.mechanism, input.mechanism);
  for (std::size_t trial = 0; trial <= std::min(kOtherRows, said.size()); ++trial) {
    std::vector<GapCommandStep> edges = said;
    if (trial > 0) edges[doubtful[trial - 1]].held = edges[doubtful[trial - 1]].next;
    input.recordings = fill_gap_command_steps(out.input.recordings, edges);
    Calibration joined = calibrate(input.mechanism, input.recordings, options, monitor);
    if (is_stopped(monitor)) return;
    if (!are_rows_confirmed(out.calibration, joined, static_cast<int>(edges.size()))) continue;
    append(gap_command_step_findings(out.input.recordings, edges), input.findings);
    keep_initial(out.calibration.parameters, joined.parameters);
    out.calibration = std::move(joined);
    out.input = std::move(input);
    return;
  }
}

/// Turns findings into notes if the model is rejected despite the repairs, since a modelling error
/// may cause them.
void downgrade_findings(int first, Calibration& calibration) {
  if (calibration.verdict.kind < VerdictKind::kRejected) return;
  for (auto f = static_cast<std::size_t>(first); f < calibration.findings.size(); ++f) {
    doubt(calibration.findings[f]);
  }
}

}  // namespace

bool has_fault(const std::vector<Finding>& findings) {
  return std::ranges::any_of(
      findings, [](const Finding& finding) { return finding.severity == Severity::kFault; });
}

void require_no_fault(const std::vector<Finding>& findings, const CalibrationOptions& options) {
  if (options.repair && has_fault(findings)) throw UnusableInput(findings);
}

DiagnosedInput examine(const Mechanism& mechanism, const std::vector<Recording>& recordings,
                       const CalibrationOptions& options, const SensorDescription& facts,
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
  const std::vector<Recording> usable = without_dead_channels(input);
  if (is_stopped(monitor) || usable.empty()) return input;
  DescriptionExamination description = examine_description(input.mechanism, usable, monitor);
  if (options.repair) {
    for (const OffsetStart& start : description.starts) {
      input.mechanism.parameters[static_cast<std::size_t>(start.parameter)].value = start.value;
    }
    apply_dependencies(input.mechanism);
  } else {
    withdraw_treatments(description.findings);
  }
  append(description.findings, input.findings);
  return input;
}

DiagnosedCalibration calibrate_with_diagnostics(const Mechanism& mechanism,
                                                const std::vector<Recording>& recordings,
                                                const CalibrationOptions& options,
                                                const SensorDescription& facts,
                                                const CalibrationMonitor& monitor) {
  DiagnosedCalibration out;
  out.input = examine(mechanism, recordings, options, facts, monitor);
  require_no_fault(out.input.findings, options);
  out.calibration = calibrate(out.input.mechanism, out.input.recordings, options, monitor);
  const std::vector<ParameterEstimate> first = out.calibration.parameters;
  const auto first_finding = static_cast<int>(out.input.findings.size());
  const bool repairs = options.repair && out.calibration.kind == EstimateKind::kPhysical;
  if (repairs && !is_stopped(monitor)) try_jump(options, monitor, out);
  bool changed = false;
  for (int look = 1; look <= kMaxExaminations && !is_stopped(monitor); ++look) {
    SignalExamination more = examine_residuals(out.calibration, out.input.recordings);
    if (!options.repair || look == kMaxExaminations || !more.needs_repair()) {
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
  if (changed && !is_stopped(monitor)) try_jump(options, monitor, out);
  if (repairs && !is_stopped(monitor)) try_lost_rows(options, monitor, out);
  if (repairs && !is_stopped(monitor)) try_gap_command_steps(options, monitor, out);
  out.calibration.findings = out.input.findings;
  update_slip_findings(out.input, out.calibration);
  downgrade_findings(first_finding, out.calibration);
  if (!is_stopped(monitor)) {
    append(explain_misfit(out.calibration, out.input.mechanism, out.input.recordings, monitor),
           out.calibration.findings);
  }
  return out;
}

}  // namespace estimator
