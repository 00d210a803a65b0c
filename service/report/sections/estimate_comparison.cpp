#include "service/report/sections/estimate_comparison.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "proto/text/input_error.hpp"
#include "service/report/sections/result_table.hpp"
#include "service/result/calibration_outcome.hpp"
#include "service/text/number_format.hpp"
#include "service/text/table_notation.hpp"

namespace service {
namespace {

using estimator::ParameterEstimate;

std::string signed_text(double value, const std::string& text) {
  return (value > 0.0 && !text.starts_with('<') ? "+" : "") + text;
}

std::string in_deviations(double error, double standard_deviation) {
  const bool known = standard_deviation > 0.0 && std::isfinite(standard_deviation);
  return known ? format_signed(error / standard_deviation, 2) : "-";
}

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

std::string format_truth_comparison(const std::vector<estimator::ParameterEstimate>& estimates,
                                    const TrueParameters& truth) {
  std::vector<std::vector<std::string>> rows = {
      {"parameter", "truth", "estimate", "± sd", "unit", "error", "error/sd"}};
  const std::vector<TableNotation> notations = make_estimate_notations(estimates);
  for (std::size_t i = 0; i < estimates.size(); ++i) {
    const estimator::ParameterEstimate& estimate = estimates[i];
    const TableNotation& notation = notations[i];
    const auto found = truth.find(estimate.name);
    if (found == truth.end()) continue;
    const double error = estimate.value - found->second;
    rows.push_back(
        {estimate.name, notation.number_text(found->second, 6), notation.value(),
         notation.deviation_text(), notation.unit(),
         found->second == 0.0
             ? "-"
             : signed_text(error, format_percent(100.0 * error / std::abs(found->second), 3)),
         in_deviations(error, estimate.standard_deviation)});
  }
  if (rows.size() == 1) {
    throw proto::InputError(
        "the simulation file has none of the estimated parameters; "
        "use the matching rig file in configs/, or the same names of bodies and joints");
  }
  return format_table(rows, {false, true, true, true, false, true, true});
}

std::vector<RepeatedEstimate> compare_repeated_estimates(
    const std::vector<ParameterEstimate>& before, const std::vector<ParameterEstimate>& now) {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  std::vector<RepeatedEstimate> rows;
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

bool is_repetition_successful(const std::vector<RepeatedEstimate>& parameters) {
  return std::ranges::all_of(parameters, [](const RepeatedEstimate& parameter) {
    return parameter.difference <= kRepeatTolerance;
  });
}

std::string format_repetition(const std::vector<RepeatedEstimate>& parameters) {
  std::vector<std::vector<std::string>> rows = {
      {"parameter", "before", "± sd", "now", "unit", "difference [sd]"}};
  std::vector<TableQuantity> quantities;
  for (const RepeatedEstimate& each : parameters) {
    quantities.push_back(
        {std::isnan(each.before) ? each.now : each.before, each.deviation, each.unit});
  }
  const std::vector<TableNotation> notations = make_table_notations(quantities);
  for (std::size_t i = 0; i < notations.size(); ++i) {
    const RepeatedEstimate& parameter = parameters[i];
    rows.push_back({parameter.name, notations[i].rounded_text(parameter.before),
                    notations[i].deviation_text(), notations[i].rounded_text(parameter.now),
                    notations[i].unit(), format_number(parameter.difference, 2)});
  }
  const std::string limit = format_number(kRepeatTolerance);
  const std::string head =
      is_repetition_successful(parameters)
          ? fmt::format(
                "Repeated: every estimate is within {} standard deviations of the "
                "previous estimate.",
                limit)
          : fmt::format("NOT REPEATED: some estimates differ by more than {} standard deviations.",
                        limit);
  return head + "\n\n" + format_table(rows, {false, true, true, true, false, true});
}

}  // namespace service
