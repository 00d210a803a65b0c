#include "service/calibration/pipeline.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "estimator/assessment/intervals/estimate_table.hpp"
#include "estimator/calibrate/calibrate.hpp"
#include "service/calibration/rejected_readings.hpp"
#include "service/calibration/source_location.hpp"
#include "service/messages/message_text.hpp"
#include "service/recordings/import_notes.hpp"
#include "service/result/calibration_outcome.hpp"
#include "service/rig/parameters/parameter_edits.hpp"

namespace service {
namespace {

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
  const FindingText fault = describe(
      *std::ranges::find(findings, estimator::Severity::kFault, &estimator::Finding::severity));
  return fault.what + "; " + fault.advice;
}

/// Runs `work` and returns its result. Exceptions of the estimator get the names of the input
/// files.
template <typename Work>
auto with_faults_named(const CalibrationInput& input, Work&& work) {
  try {
    require_valid(input.rig.mechanism);
    return work();
  } catch (estimator::UnusableInput& fault) {
    const std::string first = first_fault(fault.findings);
    add_source_locations(input.rig, fault.findings);
    throw FaultyInput(describe_fault(input, first), std::move(fault.findings));
  } catch (const std::invalid_argument& fault) {
    throw proto::InputError(describe_fault(input, fault.what()));
  }
}

void take_over(estimator::DiagnosedInput&& examined, CalibrationInput& input) {
  const std::vector<RejectedReading> held =
      rejected_readings(input.recordings, examined.recordings);
  input.context.held.insert(input.context.held.end(), held.begin(), held.end());
  input.rig.mechanism = std::move(examined.mechanism);
  input.recordings = std::move(examined.recordings);
}

/// Sets the notes of a calibration in this order: joints that the model does not reproduce, choices
/// of the estimator, conflicts with priors, import.
void add_notes(const CalibrationInput& input, estimator::Calibration& calibration) {
  std::vector<estimator::Message> notes = describe_misfit(calibration);
  notes.insert(notes.end(), calibration.notes.begin(), calibration.notes.end());
  for (const estimator::PriorConflict& conflict : calibration.conflicts) {
    const auto place = input.rig.prior_locations.find(conflict.parameter);
    estimator::Message& note = notes.emplace_back(estimator::conflict_note(conflict));
    if (place != input.rig.prior_locations.end()) {
      note.arguments.push_back({"place", place->second});
    }
  }
  for (const RecordingUse& use : input.context.recordings) {
    for (const std::string& note : describe_import(use.summary)) notes.emplace_back(note);
  }
  calibration.notes = std::move(notes);
}

}  // namespace

estimator::DiagnosedInput examine_input(const CalibrationInput& input,
                                        const estimator::CalibrationMonitor& monitor) {
  return with_faults_named(input, [&] {
    estimator::DiagnosedInput examined =
        estimator::examine(input.rig.mechanism, input.recordings, input.context.options,
                           sensor_facts(input.rig), monitor);
    add_source_locations(input.rig, examined.findings);
    return examined;
  });
}

std::vector<estimator::Finding> repair_input(CalibrationInput& input) {
  estimator::DiagnosedInput examined = examine_input(input);
  with_faults_named(input, [&] {
    estimator::require_no_fault(examined.findings, input.context.options);
    return 0;
  });
  std::vector<estimator::Finding> findings = std::move(examined.findings);
  take_over(std::move(examined), input);
  return findings;
}

estimator::DiagnosedCalibration calibrate_subject(const CalibrationSubject& subject,
                                                  const estimator::CalibrationOptions& options,
                                                  const estimator::CalibrationMonitor& monitor) {
  if (subject.examined) {
    return estimator::calibrate_with_diagnostics(subject.mechanism, subject.recordings, options,
                                                 subject.facts, monitor);
  }
  return {estimator::calibrate(subject.mechanism, subject.recordings, options, monitor), {}};
}

estimator::Calibration run_calibration(CalibrationInput& input,
                                       const estimator::CalibrationMonitor& monitor) {
  const WallTime timed(input.context.wall_time);
  estimator::DiagnosedCalibration examined = with_faults_named(input, [&] {
    return calibrate_subject({input.rig.mechanism, input.recordings, sensor_facts(input.rig)},
                             input.context.options, monitor);
  });
  add_notes(input, examined.calibration);
  add_source_locations(input.rig, examined.calibration.findings);
  take_over(std::move(examined.input), input);
  return std::move(examined.calibration);
}

estimator::CrossValidation run_cross_validation(CalibrationInput& input,
                                                const std::vector<estimator::Recording>& pieces,
                                                const estimator::CalibrationMonitor& monitor,
                                                const std::function<void(int)>& on_fold) {
  const WallTime timed(input.context.wall_time);
  return with_faults_named(input, [&] {
    return estimator::cross_validate(input.rig.mechanism, pieces, input.context.options, monitor,
                                     on_fold);
  });
}

}  // namespace service
