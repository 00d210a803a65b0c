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

/// Estimates of one parameter by two calibrations.
struct EstimatePair {
  const ParameterEstimate *first, *second;

  double difference() const { return second->value - first->value; }
  /// Returns the standard deviation of the difference; NaN if it has no interval.
  double deviation() const {
    return combine(first->standard_deviation, second->standard_deviation);
  }
  /// Returns the half-width of the 95 % interval of the difference; NaN if it has none.
  double half_interval() const { return combine(first->half_interval, second->half_interval); }
  bool is_significant() const { return std::abs(difference()) > half_interval(); }

 private:
  double combine(double a, double b) const {
    const double both = first->at_bound || second->at_bound ? kInfinity : std::hypot(a, b);
    return std::isfinite(both) ? both : std::numeric_limits<double>::quiet_NaN();
  }
};

/// Returns why the difference of two estimates has no interval; empty if it has one.
std::string missing_interval_reason(const EstimatePair& pair) {
  if (pair.first->at_bound || pair.second->at_bound) return "at a bound";
  return std::isnan(pair.half_interval()) ? "not identifiable" : "";
}

std::string difference_table(const std::vector<EstimatePair>& pairs) {
  std::vector<TableQuantity> quantities;
  for (const EstimatePair& pair : pairs) {
    quantities.push_back({pair.first->value, pair.deviation(), pair.first->unit});
  }
  const std::vector<TableNotation> notations = make_table_notations(quantities);
  std::vector<std::vector<std::string>> rows = {
      {"parameter", "first", "second", "difference", "± sd", "unit", "95 % interval", ""}};
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const EstimatePair& pair = pairs[i];
    const TableNotation& notation = notations[i];
    const double difference = pair.difference(), half = pair.half_interval();
    const std::string missing = missing_interval_reason(pair);
    rows.push_back(
        {pair.first->name, notation.value(), notation.rounded_text(pair.second->value),
         signed_text(difference, notation.rounded_text(difference)), notation.deviation_text(),
         notation.unit(),
         missing.empty() ? notation.interval_text(difference - half, difference + half) : missing,
         pair.is_significant() ? "differs" : ""});
  }
  return format_table(rows, {false, true, true, true, true, false, false, false});
}

}  // namespace

std::string format_estimate_differences(const std::vector<ParameterEstimate>& first,
                                        const std::vector<ParameterEstimate>& second,
                                        bool have_common_recordings) {
  std::vector<EstimatePair> pairs;
  std::string rest;
  for (const ParameterEstimate& each : first) {
    const auto other = std::ranges::find(second, each.name, &ParameterEstimate::name);
    if (other == second.end()) {
      rest += fmt::format("Only the first result estimates {}.\n", each.name);
    } else if (other->unit != each.unit) {
      rest += fmt::format(
          "{} is in {} in the first result and in {} in the second, so it is not compared.\n",
          each.name, each.unit, other->unit);
    } else {
      pairs.push_back({&each, &*other});
    }
  }
  for (const ParameterEstimate& each : second) {
    if (std::ranges::count(first, each.name, &ParameterEstimate::name) > 0) continue;
    rest += fmt::format("Only the second result estimates {}.\n", each.name);
  }
  if (pairs.empty()) return "The results have no estimated parameter in common.\n" + rest;
  const auto count = std::ranges::count_if(pairs, &EstimatePair::is_significant);
  std::string text = fmt::format(
      "{} of {} estimates differ: the 95 % interval of their difference excludes zero. "
      "If the results agree, this is expected for one estimate of 20.\n",
      count, pairs.size());
  if (have_common_recordings) {
    text +=
        "The results have recordings in common. "
        "Therefore their errors are not independent, and the intervals are not accurate.\n";
  }
  text += "\n" + difference_table(pairs);
  return rest.empty() ? text : text + "\n" + rest;
}

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
