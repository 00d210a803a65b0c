#include "service/report/sections/repetition_table.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "service/report/sections/result_table.hpp"
#include "service/text/number_format.hpp"
#include "service/text/table_notation.hpp"

namespace service {
namespace {

using estimator::ParameterEstimate;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Returns the difference of two estimates in standard deviations. If the standard deviation is not
/// finite, the result is 0 for equal values and infinite for different values.
double difference_of(const ParameterEstimate& before, double now) {
  if (before.value == now) return 0.0;
  const double deviation = before.at_bound ? 0.0 : before.standard_deviation;
  if (!std::isfinite(deviation) || !(deviation > 0.0)) return kInfinity;
  return std::abs(now - before.value) / deviation;
}

}  // namespace

std::vector<RepeatedParameter> compare_repetition(const std::vector<ParameterEstimate>& before,
                                                  const std::vector<ParameterEstimate>& now) {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  std::vector<RepeatedParameter> rows;
  for (const ParameterEstimate& old : before) {
    const auto same = std::ranges::find(now, old.name, &ParameterEstimate::name);
    const bool found = same != now.end();
    rows.push_back({old.name, old.unit, old.value, found ? same->value : kNone,
                    old.standard_deviation, found ? difference_of(old, same->value) : kInfinity});
  }
  for (const ParameterEstimate& added : now) {
    if (std::ranges::count(before, added.name, &ParameterEstimate::name) > 0) continue;
    rows.push_back({added.name, added.unit, kNone, added.value, kNone, kInfinity});
  }
  return rows;
}

bool is_repeated(const std::vector<RepeatedParameter>& parameters) {
  return std::ranges::all_of(parameters, [](const RepeatedParameter& parameter) {
    return parameter.difference <= kRepeatTolerance;
  });
}

std::string format_repetition(const std::vector<RepeatedParameter>& parameters) {
  std::vector<std::vector<std::string>> rows = {
      {"parameter", "before", "± sd", "now", "unit", "difference [sd]"}};
  std::vector<TableQuantity> quantities;
  for (const RepeatedParameter& each : parameters) {
    quantities.push_back(
        {std::isnan(each.before) ? each.now : each.before, each.deviation, each.unit});
  }
  const std::vector<TableNotation> notations = table_notations(quantities);
  for (std::size_t i = 0; i < notations.size(); ++i) {
    const RepeatedParameter& parameter = parameters[i];
    rows.push_back({parameter.name, notations[i].rounded(parameter.before),
                    notations[i].deviation(), notations[i].rounded(parameter.now),
                    notations[i].unit(), format_number(parameter.difference, 2)});
  }
  const std::string head = is_repeated(parameters)
                               ? "Repeated: every estimate is within " +
                                     format_number(kRepeatTolerance) +
                                     " standard deviations of the previous one."
                               : "NOT REPEATED: estimates differ by more than " +
                                     format_number(kRepeatTolerance) + " standard deviations.";
  return head + "\n\n" + format_table(rows, {false, true, true, true, false, true});
}

}  // namespace service
