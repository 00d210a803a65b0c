#include <filesystem>
#include <iostream>
#include <optional>

#include "proto/text/command_line/command_line.hpp"
#include "proto/text/input_error.hpp"
#include "service/cli/command.hpp"
#include "service/cli/commands/command_options.hpp"
#include "service/cli/rig_files.hpp"
#include "service/cli/terminal.hpp"
#include "service/report/calibration_page.hpp"
#include "service/report/sections/estimate_comparison.hpp"
#include "service/report/sections/finding_list.hpp"
#include "service/report/sections/result_table.hpp"
#include "service/result/calibration_outcome.hpp"
#include "service/result/stored_result.hpp"

namespace service {
namespace {

ExitCode calibrate(const CalibrateOptions& options) {
  check_result_files_writable(options.files, input_file_paths(options.estimation));
  if (!options.remote.server.host_port.empty()) {
    return calibrate_remotely(options.remote, options.estimation, options.files);
  }
  CalibrationInput input = load_estimation_input("calibrate", options.estimation);
  // Until the end: a result is written completely or not at all.
  const InterruptFlag interrupt(options.estimation.time_limit);
  const estimator::Calibration calibration =
      calibrate_locally(input, interrupt, {options.estimation.quiet, options.estimation.verbose},
                        options.estimation.threads);
  return print_calibration(calibration, input, options.files);
}

namespace fs = std::filesystem;

std::string file_name(const std::string& path) { return fs::path(path).filename().string(); }

bool is_file(const fs::path& path) {
  std::error_code unknown;
  return fs::is_regular_file(path, unknown);
}

/// Returns the name of a recording for messages.
std::string name_of(const RecordingSource& source) {
  return source.name.empty() ? source.path : source.name;
}

/// Searches for a recording at its stored path and in the folder of the result file.
std::optional<std::string> find_recording(const StoredResult& result, std::size_t index) {
  const RecordingSource& source = result.request.recordings[index];
  const fs::path beside = fs::path(result.file).parent_path();
  std::optional<std::string> found;
  for (const fs::path& place : {fs::path(source.path), beside / source.path,
                                beside / file_name(source.path), beside / file_name(source.name)}) {
    if (!is_file(place)) continue;
    if (compute_file_digest(place.string()).sha256 == result.recordings[index].sha256)
      return place.string();
    if (!found) found = place.string();
  }
  return found;
}

/// Removes the file of a recording from the list `given` and returns its path. The file must have
/// the content of the recording, or else its name.
std::optional<std::string> take_given(const StoredResult& result, std::size_t index,
                                      std::vector<std::string>& given) {
  const RecordingSource& source = result.request.recordings[index];
  const auto take = [&](const auto& is_it) -> std::optional<std::string> {
    const auto found = std::ranges::find_if(given, is_it);
    if (found == given.end()) return std::nullopt;
    std::string path = *found;
    given.erase(found);
    return path;
  };
  if (auto same = take([&](const std::string& path) {
        return compute_file_digest(path).sha256 == result.recordings[index].sha256;
      })) {
    return same;
  }
  return take([&](const std::string& path) {
    return file_name(path) == file_name(source.path) || file_name(path) == file_name(source.name);
  });
}

/// Throws an error if the content of a file differs from the recording that the result used.
void check_content(const RepeatOptions& options, const StoredResult& result, std::size_t index,
                   const std::string& path) {
  const std::string& then = result.recordings[index].sha256;
  if (options.changed_data || (!then.empty() && compute_file_digest(path).sha256 == then)) return;
  throw proto::InputError(
      then.empty()
          ? fmt::format("{}: the recording {:?} was not read from a file, so this file cannot be "
                        "verified; give the right file, or --changed-data",
                        path, name_of(result.request.recordings[index]))
          : fmt::format(
                "{}: differs in content from the recording of the result {} (SHA-256 {}…); give "
                "the right file, or --changed-data",
                path, result.file, then.substr(0, 12)));
}

void find_recordings(const RepeatOptions& options, StoredResult& result) {
  std::vector<std::string> given = options.recordings;
  for (std::size_t i = 0; i < result.request.recordings.size(); ++i) {
    RecordingSource& source = result.request.recordings[i];
    std::optional<std::string> path = take_given(result, i, given);
    const bool last_of_both = result.request.recordings.size() == 1 && given.size() == 1;
    if (!path && last_of_both) path = std::exchange(given, {}).front();
    if (!path) path = find_recording(result, i);
    if (!path) {
      throw proto::InputError(
          "{}: the recording {:?}{} was found neither at its recorded path nor beside the "
          "result; give its path: rigcal repeat {} RECORDING",
          result.file, name_of(source),
          source.name.empty() || source.name == source.path ? "" : " (" + source.path + ")",
          result.file);
    }
    check_content(options, result, i, *path);
    if (source.name.empty()) source.name = source.path;
    source.origin = source.path;
    source.path = *path;
  }
  if (!given.empty()) {
    throw proto::InputError(
        "{}: is none of the recordings of {}, by content or by name; omit it, or rename it",
        given.front(), result.file);
  }
}

void print_origin(const StoredResult& result, bool quiet) {
  if (quiet) return;
  std::cerr << "note: " << result.file << " is of " << result.date << ", by rigcal "
            << result.version << " (" << result.build << ")\n";
}

/// Throws an error if a result is not of a calibration; other results store only their inputs.
void require_calibration(const std::string& path) {
  const ResultHeader head = read_result_header(path);
  if (head.command.empty() || head.command == "calibrate") return;
  std::string recordings;
  for (const std::string& each : head.recordings) recordings += " " + each;
  throw proto::InputError(
      "{}: is {}; only results of \"rigcal calibrate\" and of jobs can be repeated, "
      "so repeat the command: rigcal {}{} --rig {}",
      path, describe_result_file(head), head.command, recordings,
      head.rig_file.empty() ? "RIG" : head.rig_file);
}

ExitCode repeat(const RepeatOptions& options) {
  require_calibration(options.result);
  StoredResult result = read_stored_result(options.result);
  find_recordings(options, result);
  std::vector<std::string> inputs = {options.result, result.rig_name};
  for (const RecordingSource& source : result.request.recordings) inputs.push_back(source.path);
  check_result_files_writable(options.files, inputs);
  result.request.version = RIGCAL_VERSION;
  print_origin(result, options.quiet);
  CalibrationInput input = load_calibration_input(result.request);
  input.context.request.rig_name = result.rig_name;
  const InterruptFlag interrupt;
  const estimator::Calibration calibration =
      calibrate_locally(input, interrupt, {options.quiet, options.verbose}, options.threads);
  const ExitCode reported = print_calibration(calibration, input, options.files);
  if (reported == kInterrupted) return reported;
  const std::vector<RepeatedEstimate> rows =
      compare_repeated_estimates(result.rig.estimates, calibration.parameters);
  print_text("\n" + format_repetition(rows));
  return is_repetition_successful(rows) ? kDone : kNotConverged;
}

}  // namespace

void add_options(CLI::App& command, CalibrateOptions& options) {
  add_estimation_options(command, options.estimation);
  add_result_file_options(command, options.files);
  add_calibration_file_options(command, options.files);
  add_remote_options(command, options.remote);
}

void add_calibrate(CLI::App& app, ExitCode& exit_code) {
  add_command<CalibrateOptions>(
      app, exit_code, "calibrate", "Estimate a rig's free parameters from recordings",
      "Examples:\n"
      "  rigcal calibrate run.csv --rig configs/rig-furuta.textproto --json out.json\n"
      "  rigcal calibrate run.csv --rig rig.textproto --to 2 --fix 1.K=0.07 --plot out.html\n"
      "  rigcal calibrate a.csv b.csv --rig rig.textproto     (one set of parameters for both)\n"
      "  rigcal calibrate run.csv --rig rig.textproto --json run.json --rig-out run.textproto\n"
      "  rigcal calibrate run.csv --rig rig.textproto --server 10.0.0.5:7330   (on a service)\n"
      "  rigcal calibrate session:swing-17 --rig rig.textproto --server 10.0.0.5:7330 --detach",
      calibrate);
}

estimator::Calibration calibrate_locally(CalibrationInput& input, const InterruptFlag& interrupt,
                                         ProgressOptions shown, int threads) {
  try {
    ProgressLine progress(shown);
    return run_calibration(input, make_monitor(interrupt, progress, threads));
  } catch (const FaultyInput& fault) {
    print_text(format_findings(fault.findings));
    throw proto::InputError(std::string(fault.what()) + "; use --as-is to calibrate anyway");
  }
}

ExitCode print_calibration(const estimator::Calibration& calibration, const CalibrationInput& input,
                           const ResultFiles& files) {
  if (was_stopped_by_user(calibration)) {
    std::cerr << "rigcal: stopped after "
              << calibration.iterations + calibration.refinement_iterations
              << " iterations; nothing was written\n";
    return kInterrupted;
  }
  const estimator::VerdictKind kind = calibration.verdict.kind;
  print_text(format_calibration(calibration, input.context.wall_time),
             kind == estimator::VerdictKind::kAccepted  ? TextTone::kGood
             : kind < estimator::VerdictKind::kRejected ? TextTone::kDoubtful
                                                        : TextTone::kBad);
  const TrajectoryOutput trajectories =
      files.trajectories ? TrajectoryOutput::kWritten : TrajectoryOutput::kLeftOut;
  write_result_files(
      files, [&] { return calibration_json(calibration, input.context, trajectories); },
      [&] { return render_calibration_page(calibration, input.context); });
  write_rig_files(input.rig_name, input.context.request.rig_text,
                  collect_calibrated_parameters(calibration, input.context), files, files.json);
  return calibration.converged() ? kDone : kNotConverged;
}

void add_options(CLI::App& command, RepeatOptions& options) {
  add_option(command, "result", options.result, "RESULT.json", "Result of calibrate --json")
      ->required();
  add_option(
      command, "recordings", options.recordings, "RECORDING",
      "Recordings of the result; default: their original paths, or the folder of the result");
  command.add_flag("--changed-data", options.changed_data,
                   "Allow recordings whose content has changed since the calibration");
  command
      .add_option("--threads", options.threads,
                  "Number of threads; does not affect the result. Default: one per processor")
      ->check(proto::count_from_to(1, 256));
  command.add_flag("--quiet", options.quiet, "No progress");
  command.add_flag("--verbose", options.verbose, "Print every iteration");
  add_result_file_options(command, options.files);
  add_calibration_file_options(command, options.files);
}

void add_repeat(CLI::App& app, ExitCode& exit_code) {
  add_command<RepeatOptions>(
      app, exit_code, "repeat",
      "Repeat a calibration from its result file, and compare the estimates",
      "The result contains the rig file's text, all options, and the hashes of its recordings.\n"
      "Exit status: 0 every estimate is within 0.01 standard deviations of the previous one,\n"
      "2 otherwise.\n"
      "Examples:\n"
      "  rigcal repeat run.json\n"
      "  rigcal repeat job.json downloads/run.mcap --json again.json",
      repeat);
}

}  // namespace service
