#include "estimator/doctor/examined_calibration.hpp"

#include <algorithm>
#include <cmath>

#include "estimator/calibrate/preparation.hpp"
#include "estimator/calibrate/withheld_sensors.hpp"
#include "estimator/doctor/description_faults.hpp"
#include "estimator/doctor/finding_text.hpp"
#include "estimator/doctor/misfit_causes.hpp"
#include "estimator/doctor/slip_trial.hpp"
#include "estimator/model/sensor.hpp"
#include "estimator/model/ties.hpp"

namespace estimator {
namespace {

/// Times that a calibration is looked at: what a second repair lays open is rare, and small.
constexpr int kLooks = 3;

void append(const std::vector<Finding>& more, std::vector<Finding>& findings) {
  findings.insert(findings.end(), more.begin(), more.end());
}

void apply(const SignalExamination& examination, ExaminedInput& input) {
  const int first_finding = static_cast<int>(input.findings.size());
  append(examination.findings, input.findings);
  const std::vector<double> quanta = seen_quanta(sensors_of(input.mechanism), input.recordings);
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
  for (Finding& finding : findings) finding.treatment.clear();
}

/// Recordings in which every encoder tells something: beside a dead one any description looks
/// wrong.
std::vector<Recording> without_dead_channels(const ExaminedInput& input) {
  std::vector<Recording> telling = input.recordings;
  std::erase_if(telling, [&](const Recording& recording) {
    return std::ranges::any_of(input.findings, [&](const Finding& finding) {
      return finding.kind == "dead-channel" && finding.recording == recording.name;
    });
  });
  return telling;
}

/// Slips are told as they were estimated.
void tell_estimated_slips(const ExaminedInput& input, Calibration& calibration) {
  for (const ExaminedInput::Slip& slip : input.slips) {
    const std::string& name =
        input.mechanism.parameters[static_cast<std::size_t>(slip.parameter)].name;
    const auto estimate = std::ranges::find(calibration.parameters, name, &ParameterEstimate::name);
    if (estimate == calibration.parameters.end() || !std::isfinite(estimate->standard_deviation) ||
        !(estimate->standard_deviation > 0.0)) {
      continue;
    }
    Finding& finding = calibration.findings[static_cast<std::size_t>(slip.finding)];
    if (finding.kind != "slip") continue;
    const std::vector<Sensor> sensors = sensors_of(input.mechanism);
    const auto sensor = std::ranges::find(sensors, finding.channel, &Sensor::name);
    const double confidence = finding.confidence;
    finding = slip_finding(*sensor, finding.recording, finding.from, estimate->value,
                           estimate->standard_deviation, slip.quantum);
    finding.confidence = confidence;
  }
}

/// Start values are those that were given, whatever a later calibration began with.
void keep_initial(const std::vector<ParameterEstimate>& first,
                  std::vector<ParameterEstimate>& parameters) {
  for (const ParameterEstimate& begun : first) {
    const auto same = std::ranges::find(parameters, begun.name, &ParameterEstimate::name);
    if (same != parameters.end()) same->initial = begun.initial;
  }
}

/// Frees the offset of the likeliest slip where the model does not hold, and keeps it where it does
/// with that.
void try_slip(const CalibrationOptions& options, const CalibrationMonitor& monitor,
              ExaminedCalibration& out) {
  const VerdictKind verdict = out.calibration.verdict.kind;
  if (verdict != VerdictKind::kDoubtful && verdict != VerdictKind::kDoesNotHold) return;
  const SignalExamination suspected = suspect_slip(out.calibration, out.input.recordings);
  if (!suspected.needs_repair()) return;
  ExaminedInput input = out.input;
  take_values(out.calibration.mechanism, input.mechanism);
  apply(suspected, input);
  Calibration with = calibrate(input.mechanism, input.recordings, options, monitor);
  if (is_stopped(monitor) ||
      !is_slip_confirmed(out.calibration, with, input.mechanism.parameters.back().name)) {
    return;
  }
  keep_initial(out.calibration.parameters, with.parameters);
  out.calibration = std::move(with);
  out.input = std::move(input);
}

}  // namespace

bool has_fault(const std::vector<Finding>& findings) {
  return std::ranges::any_of(
      findings, [](const Finding& finding) { return finding.severity == Severity::kFault; });
}

void require_no_fault(const std::vector<Finding>& findings, const CalibrationOptions& options) {
  if (!options.repair || !has_fault(findings)) return;
  const auto fault = std::ranges::find(findings, Severity::kFault, &Finding::severity);
  throw UnusableInput(fault->what + "; " + fault->advice, findings);
}

ExaminedInput examine(const Mechanism& mechanism, const std::vector<Recording>& recordings,
                      const CalibrationOptions& options, const SensorFacts& facts,
                      const CalibrationMonitor& monitor) {
  ExaminedInput input{mechanism, set_withheld_aside(mechanism, recordings), {}, {}};
  check_input(mechanism, input.recordings);
  const SignalExamination examination = examine_signals(mechanism, input.recordings, facts);
  if (options.repair) {
    apply(examination, input);
  } else {
    input.findings = examination.findings;
    withdraw_treatments(input.findings);
  }
  const std::vector<Recording> telling = without_dead_channels(input);
  if (is_stopped(monitor) || telling.empty()) return input;
  DescriptionExamination description = examine_description(input.mechanism, telling, monitor);
  if (options.repair) {
    for (const OffsetStart& start : description.starts) {
      input.mechanism.parameters[static_cast<std::size_t>(start.parameter)].value = start.value;
    }
    apply_ties(input.mechanism);
  } else {
    withdraw_treatments(description.findings);
  }
  append(description.findings, input.findings);
  return input;
}

ExaminedCalibration calibrate_examined(const Mechanism& mechanism,
                                       const std::vector<Recording>& recordings,
                                       const CalibrationOptions& options, const SensorFacts& facts,
                                       const CalibrationMonitor& monitor) {
  ExaminedCalibration out;
  out.input = examine(mechanism, recordings, options, facts, monitor);
  require_no_fault(out.input.findings, options);
  out.calibration = calibrate(out.input.mechanism, out.input.recordings, options, monitor);
  const std::vector<ParameterEstimate> first = out.calibration.parameters;
  for (int look = 1; look <= kLooks && !is_stopped(monitor); ++look) {
    SignalExamination more = examine_residuals(out.calibration, out.input.recordings);
    if (!options.repair || look == kLooks || !more.needs_repair()) {
      withdraw_treatments(more.findings);
      append(more.findings, out.input.findings);
      break;
    }
    take_values(out.calibration.mechanism, out.input.mechanism);
    apply(more, out.input);
    out.calibration = calibrate(out.input.mechanism, out.input.recordings, options, monitor);
    keep_initial(first, out.calibration.parameters);
  }
  if (options.repair && !is_stopped(monitor)) try_slip(options, monitor, out);
  out.calibration.findings = out.input.findings;
  tell_estimated_slips(out.input, out.calibration);
  if (!is_stopped(monitor)) {
    append(explain_misfit(out.calibration, out.input.mechanism, out.input.recordings, monitor),
           out.calibration.findings);
  }
  return out;
}

}  // namespace estimator
