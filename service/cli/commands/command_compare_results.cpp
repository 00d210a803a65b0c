#include <algorithm>
#include <filesystem>
#include <iostream>

#include "proto/text/files.hpp"
#include "proto/text/input_error.hpp"
#include "service/cli/command.hpp"
#include "service/cli/page_files.hpp"
#include "service/cli/terminal.hpp"
#include "service/report/comparison_report.hpp"
#include "service/result/stored_result.hpp"

namespace service {
namespace {

struct CompareResultsOptions {
  std::vector<std::string> files;  ///< results, or folders with results
  std::string json;
  std::string plot;
};

bool is_calibration(const ResultHeader& head) {
  return head.command.empty() || head.command == "calibrate";
}

/// Returns the calibration results in a folder, by name. Other JSON files are left out.
std::vector<std::string> results_in(const std::string& folder) {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".json") continue;
    try {
      if (is_calibration(read_result_header(entry.path().string()))) {
        files.push_back(entry.path().string());
      }
    } catch (const proto::InputError&) {  // another kind of file
    }
  }
  std::ranges::sort(files);
  return files;
}

StoredResult read_calibration(const std::string& path) {
  const ResultHeader head = read_result_header(path);
  if (!is_calibration(head)) {
    throw proto::InputError("{}: is {}; give a result of \"rigcal calibrate\"", path,
                            describe_result_file(head));
  }
  return read_stored_result(path);
}

bool is_picture(const std::string& path) {
  const std::string extension = std::filesystem::path(path).extension().string();
  return extension == ".svg" || extension == ".png";
}

void run_comparison(const CompareResultsOptions& options) {
  std::vector<std::string> files;
  bool has_folder = false;
  for (const std::string& path : options.files) {
    if (!std::filesystem::is_directory(path)) {
      files.push_back(path);
      continue;
    }
    has_folder = true;
    const std::vector<std::string> found = results_in(path);
    files.insert(files.end(), found.begin(), found.end());
  }
  if (files.size() < 2) {
    throw proto::InputError(
        "{}: a comparison needs at least two results of \"rigcal calibrate --json\"",
        options.files.front());
  }
  if (!options.json.empty()) proto::check_output_file(options.json, files);
  if (!options.plot.empty()) {
    is_picture(options.plot) ? check_picture_path(options.plot) : check_report_file(options.plot);
    proto::check_output_file(options.plot, files);
  }
  std::vector<StoredResult> results;
  for (const std::string& file : files) results.push_back(read_calibration(file));
  const ResultComparison comparison = compare_results(std::move(results), has_folder);
  print_text(format_result_comparison(comparison));
  if (!options.json.empty()) proto::write_file(options.json, result_comparison_json(comparison));
  if (options.plot.empty()) return;
  if (is_picture(options.plot)) {
    write_picture_file(options.plot, render_control_charts(comparison));
  } else {
    write_report_file(options.plot, render_result_comparison_page(comparison));
  }
}

void add_options(CLI::App& command, CompareResultsOptions& options) {
  add_option(command, "results", options.files, "RESULT.json|FOLDER",
             "Results of rigcal calibrate, or a folder with results")
      ->required();
  add_option(command, "--json", options.json, "FILE", "Write the comparison as JSON");
  add_option(command, "--plot", options.plot, "FILE",
             "Write control charts as SVG or PNG, or a report as HTML or PDF");
}

}  // namespace

void add_compare_results(CLI::App& app, ExitCode& exit_code) {
  add_command<CompareResultsOptions>(
      app, exit_code, "compare-results",
      "Compare the estimates of several calibrations of a rig, and show drift",
      "Two results: the differences of the second from the first, with 95 % intervals. More\n"
      "results: mean, scatter and drift of each parameter, with control charts. The results of a\n"
      "folder are in the order of their recordings, if all of them contain a time.\n"
      "Examples:\n"
      "  rigcal compare-results before.json after.json\n"
      "  rigcal compare-results results/ --plot drift.html --json drift.json",
      [](const CompareResultsOptions& options) { run_comparison(options); });
}

}  // namespace service
