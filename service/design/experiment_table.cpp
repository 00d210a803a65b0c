#include "service/design/experiment.hpp"

#include <cmath>
#include <vector>

#include "service/report/sections/result_table.hpp"
#include "service/text/table_notation.hpp"

namespace service {
namespace {

std::string share_of(double deviation, double value) {
  return std::isinf(deviation) || value == 0.0
             ? ""
             : format_percent(100.0 * deviation / std::abs(value));
}

std::string deviation_of(const TableNotation& notation, double deviation) {
  return std::isinf(deviation) ? "unknown" : notation.deviation(deviation);
}

}  // namespace

std::string format_experiment(const Experiment& experiment) {
  std::vector<std::vector<std::string>> rows = {
      {"parameter", "value", "sd now", "", "sd after", "", "unit", "requested sd"}};
  std::vector<TableQuantity> quantities;
  for (const PlannedParameter& each : experiment.parameters) {
    quantities.push_back({each.value, each.after, each.unit});
  }
  const std::vector<TableNotation> notations = table_notations(quantities);
  for (std::size_t i = 0; i < notations.size(); ++i) {
    const PlannedParameter& parameter = experiment.parameters[i];
    const TableNotation& notation = notations[i];
    std::string asked;
    if (parameter.is_target) {
      asked = parameter.asked == 0.0
                  ? "as small as possible"
                  : notation.deviation(parameter.asked) +
                        (parameter.after <= parameter.asked ? "" : ", not reached");
    }
    rows.push_back(
        {parameter.name, notation.number(parameter.value), deviation_of(notation, parameter.before),
         share_of(parameter.before, parameter.value), deviation_of(notation, parameter.after),
         share_of(parameter.after, parameter.value), notation.unit(), asked});
  }
  return format_table(std::move(rows), {false, true, true, true, true, true, false, false});
}

}  // namespace service
