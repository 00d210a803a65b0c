#include "service/server/jobs/run_job.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <stdexcept>

#include "proto/stream/service_limits.hpp"
#include "proto/text/input_error.hpp"
#include "service/calibration/pipeline.hpp"
#include "service/messages/stage_text.hpp"
#include "service/options/option_message.hpp"
#include "service/options/option_texts.hpp"
#include "service/recordings/file_digest.hpp"
#include "service/report/calibration_page.hpp"
#include "service/report/cross_validation_report.hpp"
#include "service/report/sections/result_table.hpp"
#include "service/result/calibration_message.hpp"
#include "service/result/calibration_outcome.hpp"
#include "service/result/validation_message.hpp"
#include "service/server/storage/checksums.hpp"
#include "service/server/storage/durable_file.hpp"

namespace service {
namespace {

CalibrationRequest make_request(const JobRun& run, const rigcal::v1::JobSpec& spec) {
  CalibrationRequest request;
  request.rig_name = spec.rig_name().empty() ? "rig file" : spec.rig_name();
  request.rig_text = spec.rig_text();
  request.edits = {{spec.start().begin(), spec.start().end()},
                   {spec.free().begin(), spec.free().end()},
                   {spec.fix().begin(), spec.fix().end()},
                   {spec.hold_out().begin(), spec.hold_out().end()}};
  for (int k = 0; k < spec.recordings_size(); ++k) {
    const rigcal::v1::JobRecording& recording = spec.recordings(k);
    request.recordings.push_back(
        {.path = run.recording_paths.at(static_cast<std::size_t>(k)),
         .name = recording.name().empty() ? recording.session_id() : recording.name(),
         .selection = read_job_selection(recording),
         .origin = "session:" + recording.session_id()});
  }
  request.options = read_job_options(spec);
  request.version = run.version;
  request.duration_s_max = run.duration_s_max;
  return request;
}

// Keeps the displayed parameters until a stage varies others; a stage may vary only states.
void show_stage(const std::string& stage, const estimator::Mechanism& varied,
                rigcal::v1::JobProgress& progress) {
  progress.set_stage(stage);
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
  monitor.on_stage = [&run, &progress](const estimator::FitStage& stage,
                                       const estimator::Mechanism& varied) {
    show_stage(describe_stage_and_solve(stage), varied, progress);
    run.on_progress(progress);
  };
  monitor.on_iteration = [&run, &progress](const estimator::IterationRecord& record) {
    progress.set_iteration(record.iteration);
    progress.set_cost(record.cost);
    progress.set_gradient_norm(record.gradient_norm);
    progress.set_step_norm(record.step_norm);
    const auto count = std::min<Eigen::Index>(record.parameters.size(), progress.parameters_size());
    if (count > 0) progress.clear_values();  // else only states vary
    for (Eigen::Index k = 0; k < count; ++k) progress.add_values(record.parameters(k));
    run.on_progress(progress);
  };
  return monitor;
}

void require(const proto::Status& status) {
  if (!status.ok()) throw std::runtime_error(status.error().detail);
}

bool is_time_over(const JobRun& run) {
  return run.is_time_over != nullptr && run.is_time_over->load();
}

// Predicts each recording from all others. A recording that alone identifies some parameter cannot
// be held out. Then, and beyond the time limit, there is no cross-validation, and a note in the
// result gives the reason.
std::optional<estimator::CrossValidation> cross_validate(
    const JobRun& run, CalibrationInput& input, const estimator::CalibrationMonitor& monitor,
    rigcal::v1::JobProgress& progress, std::vector<estimator::Message>& notes) {
  auto staged = monitor;
  int fold_index = 0;
  staged.on_stage = [&](const estimator::FitStage& stage, const estimator::Mechanism& varied) {
    show_stage("cross-validation " + std::to_string(fold_index + 1) + " of " +
                   std::to_string(input.recordings.size()) + ", " + describe_stage_and_solve(stage),
               varied, progress);
    progress.set_calibration(fold_index + 2);
  };
  try {
    estimator::CrossValidation validation = run_cross_validation(
        input, input.recordings, staged, [&](int fold) { fold_index = fold; });
    if (!validation.stopped || !is_time_over(run)) return validation;
    notes.emplace_back(std::string(proto::kNoCrossValidation) +
                       describe_time_limit_end(run.duration_s_max,
                                               "raise --time-limit, at most to job_duration_s "
                                               "in the settings of the service"));
    return std::nullopt;
  } catch (const proto::InputError& error) {
    notes.emplace_back(std::string(proto::kNoCrossValidation) + error.what());
    return std::nullopt;
  }
}

}  // namespace

std::optional<JobFiles> compute_job(const JobRun& run) {
  rigcal::v1::JobRecord record;
  require(load_record(run.folder + "/job.textproto", record));
  for (const std::string& path : run.recording_paths) require(check_checksum(path));
  CalibrationRequest request = make_request(run, record.spec());
  request.operator_name = record.info().owner();
  CalibrationInput input = load_calibration_input(request);
  const bool validates = input.recordings.size() > 1 && !record.spec().skip_cross_validation();
  rigcal::v1::JobProgress progress;
  progress.set_calibration(1);
  progress.set_calibration_count(validates ? static_cast<int>(input.recordings.size()) + 1 : 1);
  const auto monitor = make_monitor(run, progress);
  estimator::Calibration calibration = run_calibration(input, monitor);
  if (was_stopped_by_user(calibration) || run.stop->load()) return std::nullopt;

  const CalibrationMetadata context = input.context;  // includes the wall time of the calibration
  JobFiles files;
  std::string validation_table;
  std::optional<estimator::CrossValidation> validation;
  if (validates) {
    validation = cross_validate(run, input, monitor, progress, calibration.notes);
    const bool is_cancelled = run.stop->load() && !is_time_over(run);
    if ((validation && validation->stopped) || is_cancelled) return std::nullopt;
    if (validation) {
      validation_table = format_cross_validation(*validation, input.context.wall_time);
      input.context.command = "crossvalidate";
      files["cross_validation.html"] = render_cross_validation_page(*validation, input.context);
      files["cross_validation.json"] = cross_validation_json(*validation, input.context);
    }
  }
  std::string& table = files["table.txt"];
  table = format_calibration(calibration, context.wall_time);
  if (!validation_table.empty()) (table += '\n') += validation_table;
  files["report.html"] =
      render_calibration_page(calibration, context, validation ? &*validation : nullptr);
  files["result.json"] = calibration_json(calibration, context);
  return files;
}

void save_job_files(const std::string& folder, const JobFiles& files) {
  constexpr const char* kLast = "result.json";  // completes the result
  Checksums checksums;
  for (const auto& [name, content] : files) {
    checksums[name] = compute_text_digest(content).sha256;
    if (name != kLast) require(write_durably(folder + '/' + name, content));
  }
  require(write_checksums(folder, checksums));
  require(write_durably(folder + '/' + kLast, files.at(kLast)));
}

bool run_job(const JobRun& run) {
  const std::optional<JobFiles> files = compute_job(run);
  if (files) save_job_files(run.folder, *files);
  return files.has_value();
}

}  // namespace service
