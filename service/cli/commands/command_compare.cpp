#include <algorithm>
#include <iostream>
#include <map>
#include <stdexcept>

#include "proto/text/command_line/command_line.hpp"
#include "proto/text/input_error.hpp"
#include "service/cli/command.hpp"
#include "service/cli/commands/command_options.hpp"
#include "service/cli/terminal.hpp"
#include "service/report/friction_comparison_report.hpp"
#include "service/text/number_format.hpp"

namespace service {
namespace {

/// Minimum number of parts of recordings. With fewer parts, the scatter of their errors is poorly
/// known.
constexpr std::size_t kPartsWanted = 5;

std::size_t segment_count(const std::vector<estimator::Recording>& recordings) {
  std::size_t count = 0;
  for (const estimator::Recording& recording : recordings) count += recording.segments.size();
  return count;
}

ComparisonParts chosen_parts(const CompareOptions& options,
                             const std::vector<estimator::Recording>& recordings) {
  if (options.by != ComparisonParts::kChosen) return options.by;
  if (options.window > 0.0) return ComparisonParts::kWindow;
  if (recordings.size() >= kPartsWanted) return ComparisonParts::kRecording;
  return segment_count(recordings) >= kPartsWanted ? ComparisonParts::kSegment
                                                   : ComparisonParts::kWindow;
}

std::vector<estimator::Recording> parts_of(const CalibrationInput& input,
                                           const CompareOptions& options) {
  const ComparisonParts by = chosen_parts(options, input.recordings);
  if (options.window > 0.0 && by != ComparisonParts::kWindow) {
    throw proto::InputError("--window needs --by window. Change --by, or omit --window");
  }
  const std::size_t segments = segment_count(input.recordings);
  HeldOutPartOptions cut;
  if (by == ComparisonParts::kWindow) {
    cut.length = options.window;
    if (options.window == 0.0) {
      cut.count = static_cast<int>((kPartsWanted + segments - 1) / segments);
    }
  } else {
    cut.kind =
        by == ComparisonParts::kSegment ? HeldOutPartKind::kSegment : HeldOutPartKind::kRecording;
  }
  const std::size_t whole = by == ComparisonParts::kSegment ? segments : input.recordings.size();
  if (by == ComparisonParts::kWindow && options.window > 0.0 &&
      segment_count(cut_into_windows(input.recordings, options.window)) < 2) {
    throw proto::InputError(
        "--window {}: the recordings give only one window; give a shorter length",
        format_number(options.window));
  }
  if (by != ComparisonParts::kWindow && whole < 2) {
    throw proto::InputError(
        "{}: only one part, but at least two are needed to hold one out. Give more recordings, or "
        "--by window",
        input.recordings.front().name);
  }
  return cut_into_parts(input.recordings, input.context.recordings, cut);
}

int find_joint(const estimator::Mechanism& mechanism, const std::string& name) {
  std::string names;
  for (std::size_t j = 0; j < mechanism.joints.size(); ++j) {
    if (mechanism.joints[j].name == name) return static_cast<int>(j);
    names += (j == 0 ? "" : ", ") + mechanism.joints[j].name;
  }
  throw proto::InputError("--joint " + name + ": the rig has no such joint; use one of " + names);
}

estimator::FrictionLawComparisonOptions choice_of(const CompareOptions& options,
                                                  const estimator::Mechanism& mechanism) {
  estimator::FrictionLawComparisonOptions choice;
  choice.folds = options.folds;
  if (!options.laws.empty()) choice.laws.clear();
  for (const std::string& name : options.laws) {
    try {
      choice.laws.push_back(estimator::parse_friction_law(name));
    } catch (const std::invalid_argument& fault) {
      throw proto::InputError(std::string("--laws ") + fault.what());
    }
    if (std::ranges::count(options.laws, name) > 1) {
      throw proto::InputError("--laws: \"" + name + "\" is given twice");
    }
  }
  for (const std::string& name : options.joints) {
    choice.joints.push_back(find_joint(mechanism, name));
    if (std::ranges::count(options.joints, name) > 1) {
      throw proto::InputError("--joint " + name + ": given twice");
    }
  }
  return choice;
}

ExitCode compare(const CompareOptions& options) {
  CalibrationInput input = load_estimation_input("compare", options.estimation, options.files);
  const estimator::FrictionLawComparisonOptions choice = choice_of(options, input.rig.mechanism);
  const std::vector<estimator::Recording> parts = parts_of(input, options);
  // Until the end: a result is written completely or not at all.
  const InterruptFlag interrupt(options.estimation.time_limit);
  const auto comparison =
      run_with_progress(options.estimation, interrupt, [&](const auto& monitor, std::string& part) {
        const std::size_t folds = std::min(static_cast<std::size_t>(choice.folds), parts.size());
        return run_friction_law_comparison(
            input, parts, choice, monitor, [&](const estimator::FrictionLaw& law, int fold) {
              part = law.name + ", " + format_part_number("fold", fold, folds);
            });
      });
  if (comparison.stopped) {
    std::cerr << "rigcal: stopped after " << comparison.laws.size() << " of " << choice.laws.size()
              << " laws; nothing was written\n";
    return kInterrupted;
  }
  print_text(format_friction_comparison(comparison, input.context.wall_time));
  write_result_files(
      options.files, [&] { return friction_law_comparison_json(comparison, input.context); },
      [&] { return render_friction_comparison_page(comparison, input.context); });
  const auto recommended = static_cast<std::size_t>(comparison.recommended);
  return comparison.laws[recommended].converged ? kDone : kNotConverged;
}

}  // namespace

void add_options(CLI::App& command, CompareOptions& options) {
  const std::map<std::string, ComparisonParts> kinds = {{"recording", ComparisonParts::kRecording},
                                                        {"segment", ComparisonParts::kSegment},
                                                        {"window", ComparisonParts::kWindow}};
  add_estimation_options(command, options.estimation);
  const std::string group = "Laws and parts";
  add_option(command, "--laws", options.laws, "LIST",
             fmt::format("Laws to compare, for example viscous,viscous+dry. "
                         "A law is a sum of terms: {}. Default: nine common laws",
                         estimator::list_friction_terms()),
             group)
      ->delimiter(',')
      ->allow_extra_args(false);
  add_option(command, "--joint", options.joints, "NAME",
             "Joint whose friction is compared; may be repeated. Default: "
             "all joints with friction in the rig file",
             group)
      ->allow_extra_args(false);
  add_option(command, "--by", options.by, "recording|segment|window",
             "Parts to hold out; default: "
             "recordings or segments if there are at least five, else windows of equal length",
             group)
      ->transform(proto::one_of(kinds));
  add_option(command, "--window", options.window, "S", "Length of the windows [s]", group)
      ->check(proto::positive_number());
  add_option(command, "--folds", options.folds, "",
             "Number of fits per law; each holds out an equal share of the parts", group)
      ->check(proto::count_from_to(2, 1000))
      ->capture_default_str();
  add_result_file_options(command, options.files);
}

void add_compare(CLI::App& app, ExitCode& exit_code) {
  add_command<CompareOptions>(
      app, exit_code, "compare", "Compare friction laws by their errors on held-out data",
      "All compared joints get the same law; other joints keep the law of the rig file.\n"
      "Examples:\n"
      "  rigcal compare run.csv --rig rig.textproto --plot laws.html\n"
      "  rigcal compare a.csv b.csv --rig rig.textproto --joint 1 --laws viscous,viscous+dry\n"
      "  rigcal compare chaotic.csv --rig rig.textproto --by window --window 2",
      compare);
}

}  // namespace service
