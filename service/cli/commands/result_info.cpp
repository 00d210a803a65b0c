#include "service/cli/commands/result_info.hpp"

#include <algorithm>
#include <iostream>
#include <iterator>
#include <vector>

#include "proto/text/input_error.hpp"
#include "service/cli/terminal.hpp"
#include "service/report/sections/estimate_comparison.hpp"
#include "service/report/sections/result_table.hpp"
#include "service/result/stored_result.hpp"
#include "service/text/number_format.hpp"

namespace service {
namespace {

bool has_estimate(const std::vector<estimator::ParameterEstimate>& estimates,
                  const std::string& name) {
  return std::ranges::count(estimates, name, &estimator::ParameterEstimate::name) > 0;
}

/// Reads the result of a calibration. @throws InputError if the file is not one
StoredResult read_calibration(const std::string& path) {
  const ResultHeader head = read_result_header(path);
  if (!head.command.empty() && head.command != "calibrate") {
    throw proto::InputError("{}: is {}; give a result of \"rigcal calibrate\"", path,
                            describe_result_file(head));
  }
  std::cout << path << ": " << describe_result_file(head) << ", rig " << head.rig << '\n';
  return read_stored_result(path);
}

/// Returns the estimates of a result to compare with another result. A dependent parameter is
/// included only if the other result estimates it, because it repeats estimates that it depends on.
std::vector<estimator::ParameterEstimate> comparable_estimates(const CalibratedParameters& own,
                                                               const CalibratedParameters& other) {
  std::vector<estimator::ParameterEstimate> all = own.estimates;
  std::ranges::copy_if(own.tied, std::back_inserter(all), [&](const auto& dependent) {
    return has_estimate(other.estimates, dependent.name);
  });
  return all;
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
            << "\nTo use its values, give this file to --parameters.\n"
               "To repeat the calibration, give it to rigcal repeat.\n";
}

void print_result_differences(const std::string& first_path, const std::string& second_path) {
  const StoredResult first = read_calibration(first_path), second = read_calibration(second_path);
  print_text("\n" + format_estimate_differences(comparable_estimates(first.rig, second.rig),
                                                comparable_estimates(second.rig, first.rig),
                                                have_common_recordings(first, second)));
  std::string dependent;
  for (const estimator::ParameterEstimate& each : first.rig.tied) {
    if (!has_estimate(second.rig.tied, each.name)) continue;
    dependent += (dependent.empty() ? "" : ", ") + each.name;
  }
  if (dependent.empty()) return;
  print_text("\nNot listed, because they depend on other parameters: " + dependent + ".\n");
}

}  // namespace service
