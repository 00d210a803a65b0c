#include "service/cli/estimation_options.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iostream>

#include "proto/text/command_line/command_line.hpp"
#include "proto/text/input_error.hpp"
#include "service/cli/command.hpp"
#include "service/options/option_texts.hpp"
#include "service/options/parameter_values.hpp"
#include "service/recordings/csv_recording.hpp"

namespace service {
namespace {

constexpr const char* kMethodGroup = "Method";

using estimator::CalibrationOptions;
using estimator::OptionGroup;
using estimator::OptionRow;

CLI::Validator range_check(const OptionRow& row) {
  const auto& [min, max] = row.range;
  if (std::isfinite(max)) return proto::number_from_to(min, max);
  return min > 0.0 ? proto::positive_number() : proto::nonnegative_number();
}

CLI::Option* add_option(CLI::App& command, const OptionRow& row, CalibrationOptions& options) {
  const std::string name = "--" + std::string(row.name);
  const auto set = [&row, &options](const std::string& text) { set_option(row, text, options); };
  if (row.is_flag()) {
    return command.add_flag_callback(
        name, [=] { set(format_option(row, {}) == "true" ? "false" : "true"); });
  }
  if (const auto* list = std::get_if<estimator::EnumOption>(&row.member)) {
    const std::vector<std::string> words(list->words.begin(), list->words.end());
    return command.add_option_function<std::string>(name, set)
        ->check(proto::one_of(words))
        ->type_name(CLI::detail::join(words, "|"));
  }
  const auto* number = std::get_if<double CalibrationOptions::*>(&row.member);
  CLI::Option* const option =
      number != nullptr
          ? command.add_option(name, options.**number)->check(range_check(row))
          : command.add_option(name, options.*std::get<int CalibrationOptions::*>(row.member))
                ->check(proto::count_from_to(static_cast<int>(row.range.min),
                                             static_cast<int>(row.range.max)));
  return is_in_range(row, {}) ? option->capture_default_str() : option;
}

}  // namespace

void add_calibration_options(CLI::App& command, CalibrationOptions& options) {
  for (const OptionRow& row : estimator::kOptionRows) {
    if (find_option_help(row).empty()) continue;
    CLI::Option* const option =
        add_option(command, row, options)->description(format_help_text(row));
    if (row.group == OptionGroup::kMethod) option->group(kMethodGroup);
    if (row.group == OptionGroup::kSimulator) option->group("SPOOK simulator (shadow parameters)");
  }
}

void parse_parameters_option(const std::string& text, EstimationOptions& options) {
  if (const auto kind = parse_estimate_kind(text)) {
    options.calibration.kind = kind;
    return;
  }
  std::error_code missing;
  if (!text.ends_with(".json") && !std::filesystem::exists(text, missing)) {
    throw CLI::ValidationError(
        "--parameters", fmt::format("{} is neither physical, shadow, nor a result file", text));
  }
  if (!options.values.empty()) {
    throw CLI::ValidationError("--parameters", "accepts one file with values, but two were given");
  }
  options.values = text;
}

CLI::Validator time_step_validator() {
  return range_check(*std::ranges::find(estimator::kOptionRows, "step", &OptionRow::name));
}

void add_topic_option(CLI::App& command, std::string& topic) {
  add_option(command, "--topic", topic, "TOPIC",
             "Read the joint states on this topic of a ROS 2 bag. "
             "Default: the topic in the rig file, or all topics");
}

void add_estimation_options(CLI::App& command, EstimationOptions& options) {
  add_option(command, "recordings", options.recordings, "RECORDING",
             "Recordings: CSV, MAT, MCAP of rigcal-daq, or a ROS 2 bag (MCAP) with joint states")
      ->required();
  add_option(command, "--rig", options.rig, "FILE", "Rig file (proto/rig.proto)")->required();
  command.add_option("--from", options.selection.from, "Use samples from this time on [s]")
      ->check(proto::finite_number());
  command.add_option("--to", options.selection.to, "Use samples up to this time [s]")
      ->check(proto::finite_number());
  add_option(command, "--segments", options.segments, "LIST",
             "Use these segments only, e.g. 0-3,5");
  add_topic_option(command, options.selection.topic);
  add_option(command, "--free", options.edits.free, "NAME",
             "Estimate this parameter, or all that match a pattern such as 'arm.*'; --free, "
             "--fix and --start may be repeated")
      ->allow_extra_args(false);
  add_option(command, "--fix", options.edits.fix, "NAME[=VALUE]",
             "Keep this parameter constant, at VALUE if given")
      ->allow_extra_args(false);
  add_option(command, "--start", options.edits.start, "NAME=VALUE",
             "Initial value of this parameter")
      ->allow_extra_args(false);
  add_option(command, "--hold-out", options.edits.hold_out, "NAME",
             "Hold out this sensor and report how well its readings are predicted; may be repeated")
      ->allow_extra_args(false);
  command
      .add_option_function<std::vector<std::string>>(
          "--parameters",
          [&options](const std::vector<std::string>& texts) {
            for (const std::string& text : texts) parse_parameters_option(text, options);
          },
          "Kind of parameters: physical, or shadow (of a SPOOK simulator at the time step). "
          "Default: physical, unless a loop or a simulator option requires shadow. FILE, alone "
          "or in addition: a result of --json, whose values are used; for free parameters they "
          "are initial values")
      ->type_name("physical|shadow|FILE")
      ->allow_extra_args(false)
      ->group(kMethodGroup);
  add_calibration_options(command, options.calibration);
  command
      .add_option("--threads", options.threads,
                  "Number of threads on this machine; does not affect the result. Default: one per "
                  "processor")
      ->check(proto::count_from_to(1, 256));
  add_time_limit_option(command, options.time_limit);
  add_option(command, "--operator", options.operator_name, "NAME",
             "Name of the operator, for the report");
  command.add_flag("--quiet", options.quiet, "No progress");
  command.add_flag("--verbose", options.verbose, "Print every iteration");
}

void add_time_limit_option(CLI::App& command, double& time_limit) {
  command
      .add_option("--time-limit", time_limit,
                  "Stop without a result after this time [s]")
      ->check(proto::number_from_to(1.0, 1e7))
      ->capture_default_str();
}

CLI::Option* add_parameter_values_option(CLI::App& command, std::string& values,
                                         const std::string& help) {
  return add_option(command, "--parameters", values, "RESULT.json", help);
}

void add_result_file_options(CLI::App& command, ResultFiles& files) {
  add_option(command, "--json", files.json, "FILE", "Write the result as JSON");
  add_option(command, "--plot", files.plot, "FILE",
             "Write a report with plots as HTML, or as PDF (with Chromium)");
}

void add_rig_file_options(CLI::App& command, ResultFiles& files) {
  CLI::Option* const rig_out =
      add_option(command, "--rig-out", files.rig_out, "FILE",
                 "Write the rig file with the estimates in place of its values");
  command
      .add_flag("--rig-out-priors", files.rig_out_priors,
                "In the file of --rig-out, write the estimates as priors for other recordings")
      ->needs(rig_out);
  add_option(command, "--urdf-out", files.urdf_out, "FILE",
             "Write the rig with the estimates as a robot's URDF file");
  add_option(command, "--mjcf-out", files.mjcf_out, "FILE",
             "Write the rig with the estimates as a MuJoCo model");
  command.add_flag("--force", files.force,
                   "Overwrite existing files of --rig-out, --urdf-out and --mjcf-out");
}

void add_calibration_file_options(CLI::App& command, ResultFiles& files) {
  add_rig_file_options(command, files);
  command
      .add_flag("--trajectories", files.trajectories,
                "Include measured, estimated and simulated trajectories in the JSON")
      ->needs("--json");
}

std::vector<std::string> input_file_paths(const EstimationOptions& options) {
  std::vector<std::string> inputs = options.recordings;
  inputs.push_back(options.rig);
  if (!options.values.empty()) inputs.push_back(options.values);
  return inputs;
}

void check_result_files_writable(const ResultFiles& files, const std::vector<std::string>& inputs) {
  const std::vector<std::pair<std::string, std::string>> outputs = {{"--json", files.json},
                                                                    {"--plot", files.plot},
                                                                    {"--rig-out", files.rig_out},
                                                                    {"--urdf-out", files.urdf_out},
                                                                    {"--mjcf-out", files.mjcf_out}};
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const auto& [option, path] = outputs[i];
    if (path.empty()) continue;
    proto::check_output_file(path, inputs);
    const bool is_description = option != "--json" && option != "--plot";
    if (is_description) proto::check_overwriting(path, files.force);
    for (std::size_t k = 0; k < i; ++k) {
      if (outputs[k].second != path) continue;
      throw proto::InputError("{}: is both {} and {}; give two different files", path,
                              outputs[k].first, option);
    }
    if (option == "--plot") check_report_file(path);
  }
}

RecordingSelection make_selection(const EstimationOptions& options) {
  RecordingSelection selection = options.selection;
  if (!(selection.from < selection.to)) throw proto::InputError("--from must be less than --to");
  if (!options.segments.empty()) selection.segments = parse_segment_list(options.segments);
  return selection;
}

CalibrationRequest make_calibration_request(const EstimationOptions& options) {
  const RecordingSelection selection = make_selection(options);
  CalibrationRequest request;
  request.rig_name = options.rig;
  request.rig_text = proto::read_file(options.rig);
  request.values = read_parameter_values(options.values);
  request.edits = options.edits;
  request.recordings = options.earlier;
  for (const std::string& path : options.recordings) {
    request.recordings.push_back({.path = path, .selection = selection});
  }
  request.options = options.calibration;
  request.duration_s_max = options.time_limit;
  request.version = RIGCAL_VERSION;
  request.operator_name = options.operator_name;
  return request;
}

CalibrationInput load_estimation_input(const std::string& command, const EstimationOptions& options,
                                       const ResultFiles& files) {
  check_result_files_writable(files, input_file_paths(options));
  CalibrationInput input = load_calibration_input(make_calibration_request(options));
  input.context.command = command;
  if (options.quiet) return input;
  for (const UsedRecording& use : input.context.recordings) {
    for (const std::string& note : describe_import(use.summary)) {
      std::cerr << "note: " << note << '\n';
    }
  }
  return input;
}

}  // namespace service
