#include "service/cli/commands/result_info.hpp"

#include <iostream>
#include <vector>

#include "proto/text/input_error.hpp"
#include "service/cli/terminal.hpp"
#include "service/report/sections/estimate_comparison.hpp"
#include "service/report/sections/result_table.hpp"
#include "service/result/stored_result.hpp"
#include "service/text/number_format.hpp"

namespace service {
namespace {

/// Reads the result of a calibration. @throws InputError if the file is not one
StoredResult read_calibration(const std::string& path) {
  const ResultHeader head = read_result_header(path);
  if (!head.command.empty() && head.command != "calibrate") {
    throw proto::InputError(path + ": is " + describe_result_file(head) +
                            "; give a result of \"rigcal calibrate\"");
  }
  std::cout << path << ": " << describe_result_file(head) << ", rig " << head.rig << '\n';
  return read_stored_result(path);
}

}  // namespace

void print_result_file(const std::string& path) {
  const ResultHeader head = read_result_header(path);
  std::cout << path << ": " << describe_result_file(head) << '\n';
  if (!head.rig.empty() || !head.rig_file.empty()) {
    std::cout << "rig        " << head.rig
              << (head.rig_file.empty() ? "" : " (" + head.rig_file + ")") << '\n';
  }
  for (const std::string& recording : head.recordings) {
    std::cout << "recording  " << recording << '\n';
  }
  if (!head.verdict.empty()) std::cout << format_sentence(head.verdict) << '\n';
  if (head.command != "calibrate") return;
  std::vector<std::vector<std::string>> rows = {{"parameter", "value", "± sd", "unit"}};
  const std::vector<estimator::ParameterEstimate> estimates =
      read_stored_result(path).rig.estimates;
  const std::vector<TableNotation> notations = make_estimate_notations(estimates);
  for (std::size_t i = 0; i < estimates.size(); ++i) {
    rows.push_back({estimates[i].name, notations[i].value(), notations[i].deviation_text(),
                    notations[i].unit()});
  }
  std::cout << '\n'
            << format_table(rows, {false, true, true, false})
            << "\nUse this file with --parameters for its values, or with rigcal repeat to repeat "
               "the calibration.\n";
}

void print_result_differences(const std::string& first_path, const std::string& second_path) {
  const auto estimates_of = [](const StoredResult& result) {
    std::vector<estimator::ParameterEstimate> all = result.rig.estimates;
    all.insert(all.end(), result.rig.tied.begin(), result.rig.tied.end());
    return all;
  };
  const StoredResult first = read_calibration(first_path), second = read_calibration(second_path);
  print_text("\n" + format_estimate_differences(estimates_of(first), estimates_of(second),
                                                have_common_recordings(first, second)));
}

}  // namespace service
