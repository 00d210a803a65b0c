#include "service/design/experiment_table.hpp"

#include <cmath>
#include <vector>

#include "service/report/result_table.hpp"
#include "service/text/number_format.hpp"

namespace service {
namespace {

constexpr int kDeviationDigits = 2;

std::string share_of(double deviation, double value) {
  if (std::isinf(deviation) || value == 0.0) return "";
  return format_number(100.0 * deviation / std::abs(value), kDeviationDigits) + " %";
}

std::string deviation_of(const Notation& notation, double deviation) {
  return std::isinf(deviation) ? "unknown" : notation.deviation(deviation);
}

}  // namespace

std::string format_experiment(const Experiment& experiment) {
  std::vector<std::vector<std::string>> rows = {
      {"parameter", "value", "std. dev. now", "", "std. dev. after", "", "unit", "requested"}};
  for (const PlannedParameter& parameter : experiment.parameters) {
    const Notation notation(parameter.value, parameter.after);
    std::string asked;
    if (parameter.is_target) {
      asked = parameter.asked == 0.0
                  ? "as well as possible"
                  : notation.deviation(parameter.asked) +
                        (parameter.after <= parameter.asked ? "" : ", not reached");
    }
    rows.push_back(
        {parameter.name, notation.number(parameter.value), deviation_of(notation, parameter.before),
         share_of(parameter.before, parameter.value), deviation_of(notation, parameter.after),
         share_of(parameter.after, parameter.value), parameter.unit, asked});
  }
  return format_table(std::move(rows), {false, true, true, true, true, true, false, false});
}

}  // namespace service
