#include "service/server/run_job.hpp"

#include <chrono>
#include <optional>
#include <stdexcept>
#include <utility>

#include "estimator/calibrate/calibration.hpp"
#include "estimator/calibrate/cross_validation.hpp"
#include "estimator/doctor/examined_calibration.hpp"
#include "proto/text/input_error.hpp"
#include "service/convert/calibration_message.hpp"
#include "service/convert/calibration_outcome.hpp"
#include "service/convert/common_period.hpp"
#include "service/convert/cross_validation_message.hpp"
#include "service/convert/finding_place.hpp"
#include "service/convert/import_notes.hpp"
#include "service/convert/job_options.hpp"
#include "service/convert/mcap_recording.hpp"
#include "service/convert/parameter_edits.hpp"
#include "service/convert/recording_selection.hpp"
#include "service/convert/rig_file.hpp"
#include "service/convert/work_budget.hpp"
#include "service/report/calibration_page.hpp"
#include "service/report/cross_validation_page.hpp"
#include "service/report/cross_validation_table.hpp"
#include "service/report/result_table.hpp"
#include "service/server/durable_file.hpp"
#include "service/server/record_file.hpp"

namespace service {
namespace {

// Messages name the recording as its owner does, not a path on the service's disk.
std::string with_name(std::string text, const std::string& path, const std::string& name) {
  for (std::size_t at = text.find(path); at != std::string::npos; at = text.find(path, at)) {
    text.replace(at, path.size(), name);
    at += name.size();
  }
  return text;
}

struct Input {
  Rig rig;
  std::vector<estimator::Recording> recordings;
  CalibrationContext context;
};

void add_recording(const rigcal::v1::JobRecording& recording, const std::string& path,
                   Input& input) {
  const std::string& name = recording.name().empty() ? recording.session_id() : recording.name();
  try {
    ImportedRecording imported = import_recording(path, input.rig);
    std::vector<SegmentUse> uses = select_part(selection_of(recording), imported);
    imported.summary.file = imported.recording.name = name;
    for (std::string& note : imported.summary.notes) note = with_name(note, path, name);
    input.recordings.push_back(std::move(imported.recording));
    input.context.recordings.push_back({std::move(imported.summary), std::move(uses)});
  } catch (const proto::InputError& error) {
    throw proto::InputError(with_name(error.what(), path, name));
  }
}

Input load_input(const JobRun& run, const rigcal::v1::JobSpec& spec) {
  Input input;
  const std::string rig_name = spec.rig_name().empty() ? "rig file" : spec.rig_name();
  input.rig = parse_rig(rig_name, spec.rig_text());
  apply_edits({{spec.start().begin(), spec.start().end()},
               {spec.free().begin(), spec.free().end()},
               {spec.fix().begin(), spec.fix().end()},
               {spec.withhold().begin(), spec.withhold().end()}},
              input.rig.mechanism);
  for (int k = 0; k < spec.recordings_size(); ++k) {
    add_recording(spec.recordings(k), run.recording_paths.at(static_cast<std::size_t>(k)), input);
  }
  for (std::size_t j = 0; j < input.rig.hinge_facts.size(); ++j) {
    const estimator::Hinge& hinge = input.rig.mechanism.hinges[j];
    if (!hinge.motorised) continue;
    input.context.controls.push_back("hinge " + hinge.name + " [" +
                                     input.rig.hinge_facts[j].control_unit + "]");
  }
  input.context.rig = input.rig.mechanism.name.empty() ? rig_name : input.rig.mechanism.name;
  input.context.version = run.version;
  input.context.options = calibration_options(spec.options());
  share_period(input.recordings);
  check_work(input.recordings, input.context.options.step, run.duration_s_max);
  return input;
}

// The parameters in view stay until a stage varies others; one may vary states alone.
void show_stage(std::string_view stage, const estimator::Mechanism& varied,
                rigcal::v1::JobProgress& progress) {
  progress.set_stage(std::string(stage));
  std::vector<std::string> names;
  for (const estimator::Parameter& parameter : varied.parameters) {
    if (parameter.free) names.push_back(parameter.name);
  }
  if (names.empty() || std::ranges::equal(names, progress.parameters())) return;
  progress.mutable_parameters()->Assign(names.begin(), names.end());
  progress.clear_values();
}

estimator::CalibrationMonitor make_monitor(const JobRun& run, rigcal::v1::JobProgress& progress) {
  estimator::CalibrationMonitor monitor;
  monitor.stop = run.stop;
  monitor.on_stage = [&run, &progress](std::string_view stage, const estimator::Mechanism& varied) {
    show_stage(stage, varied, progress);
    run.on_progress(progress);
  };
  monitor.on_iteration = [&run, &progress](const estimator::IterationRecord& record) {
    progress.set_iteration(record.iteration);
    progress.set_cost(record.cost);
    progress.set_gradient_norm(record.gradient_norm);
    progress.set_step_norm(record.step_norm);
    const auto count = std::min<Eigen::Index>(record.arrow.size(), progress.parameters_size());
    if (count > 0) progress.clear_values();  // else the states alone move
    for (Eigen::Index k = 0; k < count; ++k) progress.add_values(record.arrow(k));
    run.on_progress(progress);
  };
  return monitor;
}

void save(const std::string& path, const std::string& content) {
  const proto::Status saved = write_durably(path, content);
  if (!saved.ok()) throw std::runtime_error(saved.error().detail);
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Each recording predicted from all others. A recording that alone shows some parameter cannot be
// left out: then there is no cross-validation, and the result says why.
std::optional<estimator::CrossValidation> cross_validate(
    const Input& input, const estimator::CalibrationMonitor& monitor,
    rigcal::v1::JobProgress& progress, std::vector<std::string>& notes) {
  auto staged = monitor;
  int fold_index = 0;
  staged.on_stage = [&](std::string_view stage, const estimator::Mechanism& varied) {
    std::string text = "cross-validation ";
    text += std::to_string(fold_index + 1) + " of " + std::to_string(input.recordings.size());
    text += ", ";
    show_stage(text.append(stage), varied, progress);
    progress.set_calibration(fold_index + 2);
  };
  try {
    return estimator::cross_validate(input.rig.mechanism, input.recordings, input.context.options,
                                     staged, [&](int fold) { fold_index = fold; });
  } catch (const std::invalid_argument& error) {
    notes.push_back(std::string("There is no cross-validation: ") + error.what());
    return std::nullopt;
  }
}

void add_notes(const Input& input, estimator::Calibration& calibration) {
  std::vector<std::string> notes = describe_misfit(calibration);
  notes.insert(notes.end(), calibration.notes.begin(), calibration.notes.end());
  for (const RecordingUse& use : input.context.recordings) {
    for (const std::string& note : describe_import(use.summary)) notes.push_back(note);
  }
  calibration.notes = std::move(notes);
}

}  // namespace

bool run_job(const JobRun& run) {
  rigcal::v1::JobRecord record;
  if (const auto loaded = load_record(run.folder + "/job.textproto", record); !loaded.ok()) {
    throw std::runtime_error(loaded.error().detail);
  }
  Input input = load_input(run, record.spec());
  const bool validates = input.recordings.size() > 1 && !record.spec().skip_cross_validation();
  rigcal::v1::JobProgress progress;
  progress.set_calibration(1);
  progress.set_calibration_count(validates ? static_cast<int>(input.recordings.size()) + 1 : 1);
  const auto monitor = make_monitor(run, progress);
  const auto start = std::chrono::steady_clock::now();
  estimator::ExaminedCalibration examined =
      estimator::calibrate_examined(input.rig.mechanism, input.recordings, input.context.options,
                                    sensor_facts(input.rig), monitor);
  estimator::Calibration& calibration = examined.calibration;
  if (was_stopped(calibration) || run.stop->load()) return false;
  input.context.wall_time = seconds_since(start);
  add_notes(input, calibration);
  name_places(input.rig, calibration.findings);
  // What is predicted from the others is what was calibrated.
  input.rig.mechanism = std::move(examined.input.mechanism);
  input.recordings = std::move(examined.input.recordings);

  std::string validation_table;
  std::optional<estimator::CrossValidation> validation;
  if (validates) {
    const auto validation_start = std::chrono::steady_clock::now();
    validation = cross_validate(input, monitor, progress, calibration.notes);
    if ((validation && validation->stopped) || run.stop->load()) return false;
    if (validation) {
      CalibrationContext context = input.context;
      context.wall_time = seconds_since(validation_start);
      validation_table = format_cross_validation(*validation, context.wall_time);
      save(run.folder + "/cross_validation.html", cross_validation_page(*validation, context));
      save(run.folder + "/cross_validation.json", cross_validation_json(*validation, context));
    }
  }
  std::string table = format_calibration(calibration, input.context.wall_time);
  if (!validation_table.empty()) (table += '\n') += validation_table;
  save(run.folder + "/table.txt", table);
  save(run.folder + "/report.html",
       calibration_page(calibration, input.context, validation ? &*validation : nullptr));
  save(run.folder + "/result.json", calibration_json(calibration, input.context));
  return true;
}

}  // namespace service
