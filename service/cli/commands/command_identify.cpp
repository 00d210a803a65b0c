#include <algorithm>
#include <chrono>
#include <cmath>
#include <iostream>
#include <limits>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "estimator/design/plan_evaluator.hpp"
#include "estimator/fit/free_parameters.hpp"
#include "proto/recording/recording_reader.hpp"
#include "proto/text/command_line/command_line.hpp"
#include "proto/text/command_line/other_program.hpp"
#include "proto/text/files.hpp"
#include "proto/text/input_error.hpp"
#include "service/cli/command.hpp"
#include "service/cli/commands/command_options.hpp"
#include "service/cli/commands/identification_run.hpp"
#include "service/cli/terminal.hpp"
#include "service/design/driven_motor.hpp"
#include "service/design/experiment.hpp"
#include "service/recordings/formats/recording_file.hpp"
#include "service/recordings/formats/recording_formats.hpp"
#include "service/report/sections/result_table.hpp"
#include "service/result/calibration_outcome.hpp"
#include "service/text/number_format.hpp"
#include "service/text/table_notation.hpp"

namespace service {
namespace {

// Exit statuses of rigcal-daq.
constexpr int kRunDone = 0, kRunNotCommissioned = 4;

/// Shares of the rig's limits that a designed run may use: before any estimate, and after the first
/// run. Factor by which the shares are reduced after a run that reached a limit.
constexpr double kFirstCaution = 0.2, kSecondCaution = 0.5, kMoreCaution = 0.7;

/// Largest commands of the test pushes, as shares of the command limit. rigcal-daq allows the first
/// one for a rig that is not commissioned.
constexpr double kFirstPushShare = 0.25, kLastPushShare = 1.0;

/// Maximum number of runs of test pushes after which no run could be designed.
constexpr int kTestPushRunsMax = 3;

/// A run is worthwhile only if it is predicted to reduce the standard deviation of some target to
/// less than this share of its present value.
constexpr double kMinImprovementRatio = 0.97;

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
        if (const ExitCode code = evaluate(); code != kDone) return code;
      }
    }
    while (true) {
      const int last = folder_.count();
      const DesignInput today = last > 0 ? load_design_input(options_.rig, folder_.result(last))
                                         : first_input();
      print_obtained_deviations(today);
      ExperimentRequest request = request_for(today);
      if (last > 0 && is_reached(today, request.targets)) return kDone;
      if (last + excluded_ >= options_.runs) {
        return report_not_reached(fmt::format("the {} runs that --runs allows", last + excluded_));
      }
      if (const ExitCode code = check_commission(); code != kDone) return code;
      const int joint = find_driven_joint(today.rig, request.motor);
      const bool is_first = last == 0 && !today.is_estimated;
      is_test_push_ = is_first && has_own_encoder(today.rig.mechanism, joint);
      if (is_test_push_) {
        plan_test_pushes(today.rig, joint, request);
      } else if (const ExitCode code = design(today, request); code != kDone) {
        return code;
      }
      if (const ExitCode code = record(); code != kDone) return code;
      if (const ExitCode code = evaluate(); code != kDone) return code;
    }
  }

 private:
  /// Returns the input of the first run's design: the rig file, or a given result with its
  /// recordings.
  DesignInput first_input() const {
    DesignInput input = load_design_input(options_.rig, "", options_.values);
    if (!options_.values.empty()) add_result_recordings(options_.rig, options_.values, input);
    return input;
  }

  ExperimentRequest request_for(const DesignInput& today) {
    ExperimentRequest request = options_.experiment;
    estimator::Mechanism mechanism = today.rig.mechanism;
    request.targets = parse_target_precisions("--until", options_.targets, mechanism,
                                              load_rig(options_.rig).mechanism);
    for (const TargetPrecision& target : request.targets) {
      reject_implausible_target(target, mechanism);
      if (target.deviation > 0.0) continue;
      throw proto::InputError("--until {0}: has no precision; write {0}:2%", target.name);
    }
    request.stop = &interrupt_.flag();
    request.target_option = "--until";
    request.result_option = "--parameters";
    if (request.threads == 0) {
      request.threads = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
    }
    if (last_recording_.empty() && folder_.count() > 0 && request.at.empty()) {
      last_recording_ = folder_.recording(folder_.count());
    }
    if (!last_recording_.empty()) {
      request.at = find_rest_positions(last_recording_, today.rig);
    }
    return request;
  }

  /// Writes the scenario of a cautious run, which does not depend on the motor's gain.
  void plan_test_pushes(const Rig& rig, int joint, const ExperimentRequest& request) {
    ++test_push_runs_;
    const double most = find_command_limits(rig, joint, request.command_max).command_max;
    const TestPushRun pushes =
        make_test_push_run(rig, joint, push_share_ * most, caution_, request.rate);
    const int run = folder_.count() + 1;
    std::cout << fmt::format(
        "\nRun {}, test pushes: the command grows to at most {} {} until joint {:?} has moved "
        "by {}\n",
        run, format_number(pushes.command, 3),
        rig.joint_properties[static_cast<std::size_t>(joint)].control_unit,
        rig.mechanism.joints[static_cast<std::size_t>(joint)].name, pushes.motion_text);
    predicted_.clear();
    proto::write_file(folder_.scenario(run), pushes.scenario);
  }

  /// Designs the next run and writes its scenario. The run uses a larger share of the motion limits
  /// if it would otherwise not measure the targets.
  ExitCode design(const DesignInput& today, ExperimentRequest& request) {
    const int last = folder_.count();
    double share = last > 1                          ? 1.0
                   : last == 1 || today.is_estimated ? kSecondCaution
                                                     : kFirstCaution;
    for (;; share = std::min(1.0, 2.0 * share)) {
      request.limit_share = caution_ * share;
      try {
        const DesignedExperiment experiment =
            design_with_progress(today, request, folder_.scenario(last + 1), options_.quiet);
        if (experiment.cancelled) return stopped();
        if (last > 0 && !is_worthwhile(experiment)) {
          if (share < 1.0) continue;
          return report_not_reached(
              fmt::format("these runs; another run of {} s would add little information",
                          format_number(options_.experiment.duration)));
        }
        predicted_ = experiment.parameters;
        std::cout << "\nRun " << last + 1 << ", as predicted:\n" << format_experiment(experiment);
        for (const std::string& note : experiment.notes) std::cerr << "note: " << note << '\n';
        proto::write_file(folder_.scenario(last + 1), experiment.scenario);
        return kDone;
      } catch (const InfeasibleExperiment& reason) {
        if (share < 1.0) continue;
        if (dynamic_cast<const UncertainExperiment*>(&reason) != nullptr &&
            repeat_test_pushes(today.rig, request, reason.what())) {
          return kDone;
        }
        throw proto::InputError("run {} is not driven: {}", last + 1, reason.what());
      }
    }
  }

  /// Plans test pushes instead of a run that cannot be designed, a few times. They have a smaller
  /// motion if a limit ended the last ones, else larger commands.
  bool repeat_test_pushes(const Rig& rig, const ExperimentRequest& request,
                          const std::string& reason) {
    const int joint = find_driven_joint(rig, request.motor);
    if (test_push_runs_ >= kTestPushRunsMax || !has_own_encoder(rig.mechanism, joint)) return false;
    std::cerr << fmt::format("note: run {} consists of test pushes, because {}\n",
                             folder_.count() + 1, reason);
    is_test_push_ = true;
    if (!is_tripped_) push_share_ = kLastPushShare;
    plan_test_pushes(rig, joint, request);
    return true;
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
      report_ += fmt::format("  {}: standard deviation {} {}, requested {} {}{}\n", target.name,
                             format_number(deviation, 3), unit, format_number(target.deviation, 3),
                             unit, reached ? "" : ", not reached");
    }
    if (reached_) {
      const std::string result = folder_.result(folder_.count());
      std::cout << fmt::format(
          "\nReached after {0} {1}:\n{2}{3}\nReport: rigcal repeat {3} --plot report.html\n",
          folder_.count(), folder_.count() == 1 ? "run" : "runs", report_, result);
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
    std::cout << fmt::format(
        "\nPrecision not reached after {}:\n"
        "{}Allow more runs (--runs), longer runs (--duration) or a lower precision.\n",
        after, report_);
    return kNotConverged;
  }

  /// Runs rigcal-daq on the rig. @return its exit status
  int run_daq(std::vector<std::string> arguments) const {
    arguments.insert(
        arguments.begin(),
        options_.daq.empty() ? proto::program_beside_this("rigcal-daq") : options_.daq);
    arguments.insert(arguments.end(), {"--rig", options_.rig});
    if (!options_.url.empty()) arguments.insert(arguments.end(), {"--url", options_.url});
    std::cout.flush();
    return proto::run_program(arguments, [this] { return interrupt_.flag().load(); });
  }

  /// Refuses a rig that is not commissioned before anything is planned or driven.
  ExitCode check_commission() {
    if (options_.not_commissioned || is_commission_checked_) return kDone;
    const int code = run_daq({"commission", "--check"});
    if (interrupt_.flag().load()) return stopped();
    is_commission_checked_ = code == kRunDone;
    if (is_commission_checked_) return kDone;
    std::cerr << fmt::format(
        "rigcal: no run was started: 'rigcal-daq commission --check' ended with status {}{}\n",
        code, code == kRunNotCommissioned ? " (not commissioned)" : "");
    return kBadInput;
  }

  ExitCode record() {
    const int run = folder_.count() + 1;
    wait_for_rest();
    if (interrupt_.flag().load()) return stopped();
    std::vector<std::string> arguments = {"run", "--scenario", folder_.scenario(run), "--out",
                                          folder_.recording(run)};
    if (options_.not_commissioned) arguments.emplace_back("--not-commissioned");
    const int code = run_daq(std::move(arguments));
    ended_ = std::chrono::steady_clock::now();
    folder_.count_runs();
    const bool is_recorded = folder_.count() == run;
    if (is_recorded) last_recording_ = folder_.recording(run);
    if (interrupt_.flag().load()) return stopped();
    if (is_recorded && (code == kRunDone || find_run_trip(last_recording_))) return kDone;
    std::cerr << fmt::format(
        "rigcal: rigcal-daq ended run {} with exit status {}. Correct the cause and repeat the "
        "command, which continues from {}\n",
        run, code, options_.folder);
    return kBadInput;
  }

  /// Checks the recording of the last run and estimates the parameters.
  /// @return kDone if another run can follow; then the recording is either used or excluded
  ExitCode evaluate() {
    const int run = folder_.count();
    const std::optional<RunTrip> trip = find_run_trip(folder_.recording(run));
    if (trip && !trip->is_usable) {
      std::cerr << fmt::format(
          "rigcal: run {} was stopped by a safety trip; its recording is not used: {}.\n"
          "Correct the cause and repeat the command. The recording is in {}\n",
          run, trip->text, exclude_last_run("tripped"));
      return kBadInput;
    }
    is_tripped_ = trip.has_value();
    if (trip) caution_ *= kMoreCaution;
    std::string fault = "the fit did not converge";
    try {
      const Rig rig = load_rig(options_.rig);
      const int joint = find_driven_joint(rig, options_.experiment.motor);
      const std::string still = describe_missing_motion(
          rig, joint, import_recording(folder_.recording(run), rig).recording,
          is_test_push_ ? MovedJoints::kDriven : MovedJoints::kAny);
      if (!still.empty()) return report_missing_motion(rig, still);
      const ExitCode code = estimate();
      if (trip && code == kDone) {
        std::cerr << fmt::format(
            "note: a limit ended run {}; its recording until then is used, and the next run stays "
            "farther from the limits\n",
            run);
      }
      if (!trip && code == kNotConverged) return report_no_fit();
      if (!trip || code == kDone || code == kInterrupted) return code;
    } catch (const proto::InputError& error) {
      fault = error.what();
      if (!trip) {
        throw proto::InputError("{}; if a run is unusable, remove {} and repeat the command", fault,
                                folder_.recording(run));
      }
    }
    ++excluded_;
    std::cerr << fmt::format(
        "note: a limit ended run {}, and its recording is not used: {}{} The next run stays "
        "farther from the limits. The recording is in {}\n",
        run, fault, fault.ends_with('.') ? "" : ".", exclude_last_run("tripped"));
    return kDone;
  }

  /// Sets the result of a fit that did not converge aside. Test pushes are repeated once with
  /// larger commands.
  ExitCode report_no_fit() {
    const int run = folder_.count();
    const std::string result = folder_.set_result_aside(run);
    if (is_test_push_ && push_share_ < kLastPushShare) {
      push_share_ = kLastPushShare;
      std::cerr << fmt::format(
          "note: the fit did not converge after run {} ({}). The test pushes are repeated with "
          "larger commands. The recording is in {}\n",
          run, result, exclude_last_run("no-fit"));
      return kDone;
    }
    std::cerr << fmt::format(
        "rigcal: the fit did not converge after run {} ({}), so the next run cannot be designed. "
        "Check the rig file with rigcal check, or remove {} and repeat the command\n",
        run, result, folder_.recording(run));
    return kNotConverged;
  }

  /// Excludes a run in which nothing moved. Test pushes are repeated once with larger commands.
  ExitCode report_missing_motion(const Rig& rig, const std::string& still) {
    const int run = folder_.count();
    const std::string aside = exclude_last_run("still");
    if (is_test_push_ && push_share_ < kLastPushShare) {
      push_share_ = kLastPushShare;
      std::cerr << fmt::format(
          "note: run {}: {}. The test pushes are repeated with larger commands. The recording is "
          "in {}\n",
          run, still, aside);
      return kDone;
    }
    std::cerr << fmt::format(
        "rigcal: run {}: {}. {}. Then repeat the command. The recording is in {}\n", run, still,
        list_motion_remedies(rig), aside);
    return kBadInput;
  }

  std::string exclude_last_run(const std::string& why) {
    predicted_.clear();
    return last_recording_ = folder_.exclude_last_run(why);
  }

  void wait_for_rest() const {
    const auto until = ended_ + std::chrono::duration<double>(options_.pause);
    while (!last_recording_.empty() && std::chrono::steady_clock::now() < until &&
           !interrupt_.flag().load()) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  }

  /// Estimates the parameters from all recordings so far and those of the given result, starting
  /// from the previous estimates.
  ExitCode estimate() {
    const int run = folder_.count();
    EstimationOptions estimation;
    for (int k = 1; k <= run; ++k) estimation.recordings.push_back(folder_.recording(k));
    estimation.rig = options_.rig;
    estimation.quiet = options_.quiet;
    estimation.threads = options_.experiment.threads;
    estimation.calibration.kind = estimator::EstimateKind::kPhysical;
    estimation.values = options_.values;
    if (!options_.values.empty()) {
      estimation.earlier = first_input().sources;
      std::erase_if(estimation.earlier, [&](const RecordingSource& source) {
        return proto::is_among(source.path, estimation.recordings);
      });
    }
    if (run > 1 && folder_.has_result(run - 1)) estimation.values = folder_.result(run - 1);
    CalibrationInput input = load_estimation_input("calibrate", estimation);
    input.changes.clear();  // the initial values are estimates of the run before
    const estimator::Calibration calibration = calibrate_locally(
        input, interrupt_, {.quiet = options_.quiet}, options_.experiment.threads);
    if (was_stopped_by_user(calibration)) return stopped();
    std::cout << '\n';
    return print_calibration(calibration, input, {.json = folder_.result(run), .plot = {}});
  }

  ExitCode stopped() const {
    std::cerr << fmt::format(
        "rigcal: stopped; {} runs are in {}; the same command continues from there\n",
        folder_.count(), options_.folder);
    return kInterrupted;
  }

  const IdentifyOptions& options_;
  const InterruptFlag& interrupt_;
  IdentificationFolder folder_;
  double caution_ = 1.0;
  bool reached_ = false;
  std::string last_recording_;  // used or excluded; empty: joint positions are unknown
  int excluded_ = 0;            // number of runs whose recordings could not be used
  bool is_commission_checked_ = false;
  bool is_test_push_ = false;   // the last planned run consists of test pushes
  int test_push_runs_ = 0;      // number of planned runs of test pushes
  bool is_tripped_ = false;     // a limit ended the last run
  double push_share_ = kFirstPushShare;
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
             "Parameter and its wanted standard deviation: 1.b:2%, or 1.b:1e-5 in its unit")
      ->required();
  add_option(command, "--folder", options.folder, "FOLDER",
             "Folder for scenarios, recordings and results; an existing folder is continued")
      ->required();
  add_parameter_values_option(command, options.values,
                              "Omit the test pushes. Design the first run with the values and "
                              "covariance of this result (rigcal calibrate --json)");
  add_option(command, "--url", options.url, "URL",
             "Address of the unit (microcontroller board), instead of the address in the rig file");
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
             "Path of rigcal-daq; default: in the folder of rigcal");
  command.add_flag(
      "--not-commissioned", options.not_commissioned,
      "Allow a rig that was not commissioned with rigcal-daq commission, or that was changed "
      "afterwards");
  command.add_flag("--quiet", options.quiet, "No progress");
}

void add_identify(CLI::App& app, ExitCode& exit_code) {
  add_command<IdentifyOptions>(
      app, exit_code, "identify",
      "Repeat runs (design, record, estimate) until parameters are precise enough",
      "Drives the rig: rigcal-daq executes each run with its safety checks. "
      "Ctrl-C ends the run with the motor off.\n"
      "Example:\n"
      "  rigcal identify --rig configs/rig-furuta.textproto --until 1.b:2% --until 2.b:2% \\\n"
      "      --folder furuta",
      run_identify);
}

}  // namespace service
