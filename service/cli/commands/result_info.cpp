#include "service/cli/commands/result_info.hpp"

#include <iostream>
#include <vector>

#include "service/cli/terminal.hpp"
#include "service/report/sections/result_table.hpp"
#include "service/result/stored_result.hpp"
#include "service/text/number_format.hpp"

namespace service {
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

}  // namespace service
