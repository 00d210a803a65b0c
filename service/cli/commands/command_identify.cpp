#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "estimator/design/plan_evaluator.hpp"
#include "estimator/fit/free_parameters.hpp"
#include "proto/recording/mcap/file.hpp"
#include "proto/recording/recording_info.hpp"
#include "proto/text/command_line/command_line.hpp"
#include "proto/text/files.hpp"
#include "proto/text/input_error.hpp"
#include "service/cli/command.hpp"
#include "service/cli/commands/command_options.hpp"
#include "service/cli/terminal.hpp"
#include "service/design/experiment.hpp"
#include "service/recordings/formats/recording_file.hpp"
#include "service/report/sections/result_table.hpp"
#include "service/result/calibration_outcome.hpp"
#include "service/text/number_format.hpp"
#include "service/text/table_notation.hpp"

namespace service {
namespace {

/// Folder that contains the files of each run of an identification: run-01.textproto, run-01.mcap,
/// result-01.json, run-02.textproto and so on. The result of a run uses the recordings of all runs
/// so far.
class IdentificationFolder {
 public:
  /// Opens the folder, or creates it.
  /// @throws proto::InputError if that fails, or if a run is only partly recorded
  explicit IdentificationFolder(const std::string& path) : path_(path) {
    std::error_code error;
    std::filesystem::create_directories(path_, error);
    if (!std::filesystem::is_directory(path_)) {
      throw proto::InputError(path + ": cannot be created as a folder; give another --folder");
    }
    count_runs();
    const std::string part = proto::part_file_path(recording(count_ + 1));
    if (std::filesystem::exists(part)) {
      throw proto::InputError(part +
                              ": is an incomplete recording; finish it with rigcal recover " +
                              part + ", or remove it");
    }
  }

  /// Returns the number of recorded runs.
  int count() const { return count_; }

  std::string scenario(int run) const { return name("run-", run, ".textproto"); }
  std::string recording(int run) const { return name("run-", run, ".mcap"); }
  std::string result(int run) const { return name("result-", run, ".json"); }
  bool has_result(int run) const { return std::filesystem::exists(result(run)); }

  /// Counts the recordings in the folder again.
  void count_runs() {
    while (std::filesystem::exists(recording(count_ + 1))) ++count_;
  }

  /// Renames the recording of the last run to run-NN.tripped.mcap, so that it no longer counts as a
  /// run.
  /// @return the new path
  std::string exclude_last_run() {
    const std::string aside = name("run-", count_, ".tripped.mcap");
    std::filesystem::rename(recording(count_--), aside);
    return aside;
  }

 private:
  std::string name(const std::string& stem, int run, const char* ending) const {
    return (path_ / (stem + (run < 10 ? "0" : "") + std::to_string(run) + ending)).string();
  }

  std::filesystem::path path_;
  int count_ = 0;
};

constexpr std::chrono::milliseconds kPollPeriod(10);
constexpr int kNotStarted = 127;

/// Runs another program, which writes to this program's output, and waits for its end.
///
/// The child process has a separate process group, so a terminal's Ctrl-C reaches only this
/// program. On Ctrl-C this program sends one SIGINT to the child and waits, because some programs
/// would abort at a second SIGINT. If this program is killed, the kernel sends SIGINT to the child.
///
/// @param command  program and arguments; a name without a slash is searched along PATH
/// @param stop     flag that Ctrl-C sets
/// @return exit status of the child, or 128 + signal
/// @throws proto::InputError if the program cannot be started
int run_program(const std::vector<std::string>& command, const std::atomic<bool>& stop) {
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  std::cout << std::flush;
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child < 0) {
    throw proto::InputError(command.front() + ": cannot be started: " + std::strerror(errno));
  }
  if (child == 0) {
    ::setpgid(0, 0);
    ::prctl(PR_SET_PDEATHSIG, SIGINT);
    if (::getppid() != parent) ::_exit(kNotStarted);
    ::execvp(arguments[0], arguments.data());
    ::_exit(kNotStarted);
  }
  bool reported = false;
  while (true) {
    int status = 0;
    const pid_t ended = ::waitpid(child, &status, WNOHANG);
    if (ended == child) {
      const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
      if (code != kNotStarted) return code;
      throw proto::InputError(command.front() + ": not found or not executable; give its path");
    }
    if (stop.load() && !reported) {
      ::kill(child, SIGINT);
      reported = true;
    }
    std::this_thread::sleep_for(kPollPeriod);
  }
}

/// Returns the path of the program `name` in this program's folder, or `name` itself if it is not
/// there.
std::string program_beside_this(const std::string& name) {
  std::error_code none;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", none);
  if (none) return name;
  const std::filesystem::path beside = self.parent_path() / name;
  return std::filesystem::exists(beside, none) ? beside.string() : name;
}

// Exit statuses of rigcal-daq.
constexpr int kRunDone = 0, kRunTripped = 3, kRunNotCommissioned = 4;

/// Share of the rig's limits that the first run may use, before any estimate, and the factor by
/// which the share is reduced after a run that reached a limit.
constexpr double kFirstCaution = 0.2, kMoreCaution = 0.7;

/// A run is worthwhile only if it is predicted to reduce the standard deviation of some target to
/// less than this share of its present value.
constexpr double kMinImprovementRatio = 0.97;

/// Returns why a run has no usable data: the text of its trip if the rig was not driven, or if the
/// run was not ended by a motion limit. Returns an empty text for a usable run.
std::string unusable_trip(const std::string& recording) {
  const auto info = proto::inspect_recording(recording);
  if (!info.ok()) return "";
  std::string trip;
  bool has_driven = false, meets_limit = false;
  for (const proto::Event& event : info.value().events) {
    has_driven =
        has_driven || (event.kind == proto::EventKind::kScenario && event.name == "running");
    if (event.kind != proto::EventKind::kTrip || !trip.empty()) continue;
    trip = event.text;
    meets_limit = event.name == "angle" || event.name == "speed";
  }
  return has_driven && meets_limit ? "" : trip;
}

/// Identification of a rig: repeatedly records a run, estimates the parameters and designs the next
/// run.
class Identification {
 public:
  Identification(const IdentifyOptions& options, const InterruptFlag& interrupt)
      : options_(options), interrupt_(interrupt), folder_(options.folder) {}

  ExitCode run() {
    if (folder_.count() > 0) {
      std::cout << options_.folder << ": continues after run " << folder_.count() << '\n';
      if (!folder_.has_result(folder_.count())) {
        if (const ExitCode code = estimate(); code != kDone) return code;
      }
    }
    while (true) {
      const int last = folder_.count();
      DesignInput today = last > 0 ? load_design_input(options_.rig, folder_.result(last))
                                   : load_design_input(options_.rig, "", options_.values);
      print_obtained_deviations(today);
      ExperimentRequest request = request_for(today);
      if (last > 0 && is_reached(today, request.targets)) return kDone;
      if (last >= options_.runs)
        return report_not_reached("the " + std::to_string(last) + " runs that --runs allows");
      const DesignedExperiment experiment =
          design_with_progress(today, request, folder_.scenario(last + 1), options_.quiet);
      if (experiment.cancelled) return stopped();
      predicted_ = experiment.parameters;
      std::cout << "\nRun " << last + 1 << ", as predicted:\n" << format_experiment(experiment);
      for (const std::string& note : experiment.notes) std::cerr << "note: " << note << '\n';
      if (last > 0 && !is_worthwhile(experiment)) {
        return report_not_reached("these runs; another one of " +
                                  format_number(options_.experiment.duration) +
                                  " s would add little information");
      }
      proto::write_file(folder_.scenario(last + 1), experiment.scenario);
      if (const ExitCode code = record(); code != kDone) return code;
      if (const ExitCode code = estimate(); code != kDone) return code;
    }
  }

 private:
  ExperimentRequest request_for(DesignInput& today) const {
    ExperimentRequest request = options_.experiment;
    request.targets = parse_target_precisions("--until", options_.targets, today.rig.mechanism);
    for (const TargetPrecision& target : request.targets) {
      if (target.deviation > 0.0) continue;
      throw proto::InputError("--until " + target.name + ": has no precision; write " +
                              target.name + ":2%");
    }
    request.stop = &interrupt_.flag();
    request.limit_share = caution_ * (folder_.count() == 0 ? kFirstCaution : 1.0);
    if (request.threads == 0) {
      request.threads = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
    }
    if (folder_.count() > 0 && (recorded_ || request.at.empty())) {
      request.at = rest_positions(today.rig);
    }
    return request;
  }

  /// Returns the joint positions at rest after the last run. The encoders keep counting between
  /// runs, so these are the positions at the start of the next run.
  std::vector<std::string> rest_positions(const Rig& rig) const {
    const estimator::Mechanism& mechanism = rig.mechanism;
    const ImportedRecording imported = import_recording(folder_.recording(folder_.count()), rig);
    const Eigen::MatrixXd& angles = imported.recording.segments.back().angles;
    Eigen::VectorXd readings = angles.row(angles.rows() - 1).transpose();
    for (Eigen::Index i = 0; i < readings.size(); ++i) {
      for (Eigen::Index k = angles.rows() - 1; k > 0 && std::isnan(readings[i]); --k) {
        readings[i] = angles(k - 1, i);
      }
    }
    const estimator::EncoderToJointMap joints(mechanism);
    const Eigen::VectorXd at =
        estimator::settle_to_rest(mechanism, joints.joint_coordinates(readings));
    std::vector<std::string> places;
    for (int j = 0; j < mechanism.joint_count(); ++j) {
      if (!joints.is_observed(j) || !std::isfinite(at[j])) continue;
      places.push_back(mechanism.joints[static_cast<std::size_t>(j)].name + "=" +
                       format_number(at[j], 9));
    }
    return places;
  }

  static double deviation_of(const DesignInput& today, const TargetPrecision& target) {
    return today
        .deviations[estimator::FreeParameters(today.rig.mechanism).find_position(target.index)];
  }

  bool is_reached(const DesignInput& today, const std::vector<TargetPrecision>& targets) {
    reached_ = true;
    report_.clear();
    for (const TargetPrecision& target : targets) {
      const double deviation = deviation_of(today, target);
      const bool reached = deviation <= target.deviation;
      reached_ &= reached;
      const std::string& unit =
          today.rig.mechanism.parameters[static_cast<std::size_t>(target.index)].unit;
      report_ += "  " + target.name + ": standard deviation " + format_number(deviation, 3) +
                 ", asked for " + format_number(target.deviation, 3) + " " + unit +
                 (reached ? "" : ", not reached") + "\n";
    }
    if (reached_) {
      std::cout << "\nReached after " << folder_.count() << " runs:\n"
                << report_ << folder_.result(folder_.count()) << '\n';
    }
    return reached_;
  }

  /// Prints the predicted and the obtained standard deviations of the parameters after a run.
  void print_obtained_deviations(const DesignInput& today) const {
    if (predicted_.empty()) return;
    std::vector<std::vector<std::string>> rows = {
        {"parameter", "sd predicted", "sd obtained", "unit"}};
    const estimator::FreeParameters free(today.rig.mechanism);
    std::vector<TableQuantity> quantities;
    for (const ExperimentPrecision& each : predicted_) {
      quantities.push_back({each.after, 0.0, each.unit});
    }
    const std::vector<TableNotation> notations = make_table_notations(quantities);
    for (std::size_t i = 0; i < notations.size(); ++i) {
      const ExperimentPrecision& parameter = predicted_[i];
      const int place = free.find_position(today.rig.mechanism.find_parameter(parameter.name));
      rows.push_back({parameter.name, notations[i].deviation_text(parameter.after),
                      notations[i].deviation_text(today.deviations[place]), notations[i].unit()});
    }
    std::cout << '\n' << format_table(std::move(rows), {false, true, true, false});
  }

  static bool is_worthwhile(const DesignedExperiment& experiment) {
    return std::ranges::any_of(experiment.parameters, [](const ExperimentPrecision& parameter) {
      return parameter.is_target && parameter.before > parameter.asked &&
             parameter.after < kMinImprovementRatio * parameter.before;
    });
  }

  ExitCode report_not_reached(const std::string& after) const {
    std::cout << "\nPrecision not reached after " << after << ":\n"
              << report_
              << "Allow more runs (--runs), longer ones (--duration) or a lower precision.\n";
    return kNotConverged;
  }

  ExitCode record() {
    const int run = folder_.count() + 1;
    wait_for_rest();
    if (interrupt_.flag().load()) return stopped();
    std::vector<std::string> command = {
        options_.daq.empty() ? program_beside_this("rigcal-daq") : options_.daq,
        "run",
        "--rig",
        options_.rig,
        "--scenario",
        folder_.scenario(run),
        "--out",
        folder_.recording(run)};
    if (!options_.url.empty()) command.insert(command.end(), {"--url", options_.url});
    if (options_.not_commissioned) command.emplace_back("--not-commissioned");
    const int code = run_program(command, interrupt_.flag());
    ended_ = std::chrono::steady_clock::now();
    folder_.count_runs();
    recorded_ = true;
    if (interrupt_.flag().load()) return stopped();
    if (code == kRunTripped && folder_.count() == run) {
      if (const std::string trip = unusable_trip(folder_.recording(run)); !trip.empty()) {
        std::cerr << "rigcal: run " << run
                  << " was stopped by a safety trip; its recording is not used: " << trip
                  << (trip.ends_with('.') ? "" : ".")
                  << "\nCorrect the cause and repeat the command. The recording is in "
                  << folder_.exclude_last_run() << '\n';
        return kBadInput;
      }
      caution_ *= kMoreCaution;
      std::cerr << "note: a limit ended run " << run
                << "; its recording is used, and the next run stays farther from the limits\n";
      return kDone;
    }
    if (code == kRunDone && folder_.count() == run) return kDone;
    if (code == kRunNotCommissioned) {
      std::cerr << "rigcal: the rig is not commissioned, so run " << run
                << " was refused; run 'rigcal-daq commission --rig " << options_.rig
                << "' and repeat this command, or add --not-commissioned\n";
      return kBadInput;
    }
    std::cerr << "rigcal: rigcal-daq ended run " << run << " with status " << code
              << "; correct the cause and repeat the command, which continues from "
              << options_.folder << '\n';
    return kBadInput;
  }

  void wait_for_rest() const {
    const auto until = ended_ + std::chrono::duration<double>(options_.pause);
    while (folder_.count() > 0 && std::chrono::steady_clock::now() < until &&
           !interrupt_.flag().load()) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  }

  /// Estimates the parameters from all recordings so far, starting from the previous estimates.
  ExitCode estimate() {
    const int run = folder_.count();
    EstimationOptions estimation;
    for (int k = 1; k <= run; ++k) estimation.recordings.push_back(folder_.recording(k));
    estimation.rig = options_.rig;
    estimation.quiet = options_.quiet;
    estimation.threads = options_.experiment.threads;
    estimation.calibration.kind = estimator::EstimateKind::kPhysical;
    estimation.values = options_.values;
    if (run > 1 && folder_.has_result(run - 1)) estimation.values = folder_.result(run - 1);
    CalibrationInput input = load_estimation_input("calibrate", estimation);
    const estimator::Calibration calibration = calibrate(input);
    if (was_stopped_by_user(calibration)) return stopped();
    std::cout << '\n';
    return print_calibration(calibration, input, {.json = folder_.result(run), .plot = {}});
  }

  estimator::Calibration calibrate(CalibrationInput& input) const {
    try {
      return calibrate_locally(input, interrupt_, {.quiet = options_.quiet},
                               options_.experiment.threads);
    } catch (const proto::InputError& fault) {
      throw proto::InputError(std::string(fault.what()) + "; if a run is unusable, remove " +
                              folder_.recording(folder_.count()) + " and repeat the command");
    }
  }

  ExitCode stopped() const {
    std::cerr << "rigcal: stopped; " << folder_.count() << " runs are in " << options_.folder
              << "; the same command continues from there\n";
    return kInterrupted;
  }

  const IdentifyOptions& options_;
  const InterruptFlag& interrupt_;
  IdentificationFolder folder_;
  double caution_ = 1.0;
  bool reached_ = false;
  bool recorded_ = false;  // in this process, so the joint positions are known
  std::string report_;
  std::vector<ExperimentPrecision> predicted_;  // of the last run
  std::chrono::steady_clock::time_point ended_ = {};
};

ExitCode run_identify(const IdentifyOptions& options) {
  const InterruptFlag interrupt;
  return Identification(options, interrupt).run();
}

}  // namespace

void add_options(CLI::App& command, IdentifyOptions& options) {
  options.experiment.threads = 0;
  add_option(command, "--rig", options.rig, "FILE", "Rig file (proto/rig.proto)")->required();
  add_option(command, "--until", options.targets, "NAME:PRECISION",
             "Parameter and the standard deviation to reach, for example 1.b:2%, or 1.b:1e-5 in "
             "the parameter's unit")
      ->required();
  add_option(command, "--folder", options.folder, "FOLDER",
             "Folder for scenarios, recordings and results; an existing folder is continued")
      ->required();
  add_parameter_values_option(command, options.values,
                              "Design and estimate the first run, beginning");
  add_option(command, "--url", options.url, "URL", "Unit to use instead of the rig file's");
  command.add_option("--runs", options.runs, "Maximum number of runs, including existing ones")
      ->check(proto::count_from_to(1, 99))
      ->capture_default_str();
  command
      .add_option("--pause", options.pause,
                  "Minimum pause between runs for the rig to come to rest [s]")
      ->check(proto::number_from_to(0.0, 3600.0))
      ->capture_default_str();
  add_experiment_options(command, options.experiment);
  add_option(command, "--daq", options.daq, "FILE",
             "The rigcal-daq to use; default: the one beside rigcal");
  command.add_flag(
      "--not-commissioned", options.not_commissioned,
      "Allow a rig that was not commissioned with rigcal-daq commission or was changed since then");
  command.add_flag("--quiet", options.quiet, "No progress");
}

void add_identify(CLI::App& app, ExitCode& exit_code) {
  add_command<IdentifyOptions>(
      app, exit_code, "identify",
      "Repeat runs (design, record, estimate) until parameters are precise enough",
      "Drives the rig: rigcal-daq executes each run with its safety checks. Ctrl-C ends the run "
      "with the motor off.\n"
      "Example:\n"
      "  rigcal identify --rig configs/rig-furuta.textproto --until 1.b:2% --until 2.b:2% \\\n"
      "      --folder furuta",
      run_identify);
}

}  // namespace service
