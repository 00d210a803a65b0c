#include <cmath>
#include <filesystem>
#include <iostream>

#include "proto/text/command_line/command_line.hpp"
#include "proto/text/files.hpp"
#include "proto/text/input_error.hpp"
#include "service/calibration/batch_run.hpp"
#include "service/cli/command.hpp"
#include "service/cli/commands/command_options.hpp"
#include "service/cli/terminal.hpp"
#include "service/recordings/recording_selection.hpp"
#include "service/report/sections/result_table.hpp"
#include "service/text/csv_row.hpp"
#include "service/text/number_format.hpp"

namespace service {
namespace {

/// Returns the names of the entries' recordings and rig files, without common folders.
std::vector<std::vector<std::string>> name_entries(const std::vector<BatchEntry>& entries) {
  std::vector<std::string> recordings, rigs;
  for (const BatchEntry& entry : entries) {
    recordings.push_back(join_items(entry.recordings, std::identity{}, ";"));
    rigs.push_back(entry.rig);
  }
  recordings = remove_common_folders(recordings);
  rigs = remove_common_folders(rigs);
  std::vector<std::vector<std::string>> names;
  for (std::size_t i = 0; i < entries.size(); ++i) names.push_back({recordings[i], rigs[i]});
  return names;
}

bool is_good(const BatchOutcome& outcome) {
  return outcome.failure.empty() && outcome.converged && outcome.verdict == "accepted";
}

/// Returns a table of all results, and a list of the failures with their reasons.
std::string format_batch(const std::vector<BatchEntry>& entries,
                         const std::vector<BatchOutcome>& outcomes) {
  const auto names = name_entries(entries);
  std::vector<std::vector<std::string>> rows = {
      {"recording", "rig", "verdict", "converged", "parameters"}};
  std::string failures;
  std::size_t accepted = 0, failed = 0;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const BatchOutcome& outcome = outcomes[i];
    if (is_good(outcome)) ++accepted;
    if (!outcome.failure.empty()) {
      ++failed;
      failures += fmt::format("  {}, {}: {}\n", names[i][0], names[i][1], outcome.failure);
      continue;
    }
    rows.push_back({names[i][0], names[i][1], outcome.verdict, outcome.converged ? "yes" : "NO",
                    std::to_string(outcome.estimates.size())});
  }
  std::string text = fmt::format("{} of {} calibrations converged with an accepted model.\n",
                                 accepted, entries.size());
  if (rows.size() > 1) {
    text += "\n" + format_table(rows, {false, false, false, false, true});
  }
  if (failed > 0) text += fmt::format("\n{} without result:\n{}", failed, failures);
  return text;
}

/// Returns a CSV table with a row per estimate, and one per calibration without result.
std::string batch_csv(const std::vector<BatchEntry>& entries,
                      const std::vector<BatchOutcome>& outcomes) {
  std::string csv =
      format_csv_row({"recording", "rig", "verdict", "converged", "parameter", "value",
                      "standard_deviation", "half_interval", "unit", "failure"});
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const BatchOutcome& outcome = outcomes[i];
    const std::string recordings = join_items(entries[i].recordings, std::identity{}, ";");
    const std::string converged = outcome.converged ? "true" : "false";
    if (outcome.estimates.empty()) {
      csv += format_csv_row({recordings, entries[i].rig, outcome.verdict, converged, "", "", "", "",
                             "", outcome.failure});
    }
    for (const BatchEstimate& each : outcome.estimates) {
      csv += format_csv_row({recordings, entries[i].rig, outcome.verdict, converged, each.name,
                             notation::format_exact(each.value),
                             notation::format_exact(each.standard_deviation),
                             notation::format_exact(each.half_interval), each.unit, ""});
    }
  }
  return csv;
}

/// Writes the result of each calibration as LINE.json, where LINE is its place in the list from 1.
void write_batch_results(const std::string& folder, const std::vector<BatchOutcome>& outcomes) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) {
    throw proto::InputError("{}: cannot be created: {}; give another folder", folder,
                            error.message());
  }
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    if (outcomes[i].json.empty()) continue;
    proto::write_file(folder + "/" + std::to_string(i + 1) + ".json", outcomes[i].json);
  }
}

ExitCode batch(const BatchOptions& options) {
  const std::vector<BatchEntry> entries = read_batch_list(options.list);
  if (!options.csv.empty()) proto::check_output_file(options.csv, {options.list});
  ItemRun run(options.items, options.threads);
  const InterruptFlag interrupt(options.time_limit);
  std::vector<BatchOutcome> outcomes;
  {
    ProgressLine progress({.quiet = options.quiet});
    outcomes =
        run_batch(entries, options.calibration, RIGCAL_VERSION, run.program(), run.executor(),
                  run.store(), &interrupt.flag(), show_items("calibration", progress));
  }
  if (outcomes.empty()) return run.report_unfinished(interrupt.flag().load());
  const bool good = std::ranges::all_of(outcomes, is_good);
  print_text(format_batch(entries, outcomes), good ? TextTone::kGood : TextTone::kDoubtful);
  if (!options.csv.empty()) proto::write_file(options.csv, batch_csv(entries, outcomes));
  if (!options.json.empty()) write_batch_results(options.json, outcomes);
  return good ? kDone : kNotConverged;
}

}  // namespace

void add_options(CLI::App& command, BatchOptions& options) {
  add_option(command, "list", options.list, "LIST.csv",
             "List with the columns \"recording\" and \"rig\"; semicolons separate several "
             "recordings of one calibration. Relative paths start at the folder of the list")
      ->required();
  add_option(command, "--csv", options.csv, "FILE", "Write all estimates as a CSV table");
  add_option(command, "--json", options.json, "DIR",
             "Write the result of each calibration into this folder, as N.json for the Nth one");
  add_item_options(command, options.items, "calibration");
  command
      .add_option("--threads", options.threads,
                  "Number of calibrations at a time; does not affect the results. Default: one per "
                  "processor")
      ->check(proto::count_from_to(1, 256));
  add_time_limit_option(command, options.time_limit);
  command.add_flag("--quiet", options.quiet, "No progress");
  add_calibration_options(command, options.calibration);
}

void add_batch(CLI::App& app, ExitCode& exit_code) {
  add_command<BatchOptions>(
      app, exit_code, "batch", "Calibrate a list of recordings and rigs",
      "Exit status: 0 all calibrations converged with an accepted model, 2 otherwise.\n"
      "Examples:\n"
      "  rigcal batch night.csv --csv estimates.csv --folder night\n"
      "  rigcal batch night.csv --json results --threads 8",
      batch);
}

}  // namespace service
