#include "service/report/sections/truth_comparison.hpp"

#include <cmath>

#include "proto/text/input_error.hpp"
#include "service/report/sections/quantity_table.hpp"
#include "service/report/sections/result_table.hpp"
#include "service/result/calibration_outcome.hpp"
#include "service/text/number_format.hpp"

namespace service {
namespace {

std::string signed_text(double value, const std::string& text) {
  return (value > 0.0 && !text.starts_with('<') ? "+" : "") + text;
}

std::string in_deviations(double error, double standard_deviation) {
  const bool known = standard_deviation > 0.0 && std::isfinite(standard_deviation);
  return known ? format_signed(error / standard_deviation, 2) : "-";
}

}  // namespace

std::string format_truth_comparison(const std::vector<estimator::ParameterEstimate>& estimates,
                                    const TrueParameters& truth) {
  std::vector<std::vector<std::string>> rows = {
      {"parameter", "truth", "estimate", "± sd", "unit", "error", "error/sd"}};
  const std::vector<TableNotation> notations = notations_of(estimates);
  for (std::size_t i = 0; i < estimates.size(); ++i) {
    const estimator::ParameterEstimate& estimate = estimates[i];
    const TableNotation& notation = notations[i];
    const auto found = truth.find(estimate.name);
    if (found == truth.end()) continue;
    const double error = estimate.value - found->second;
    rows.push_back(
        {estimate.name, notation.number(found->second, 6), notation.value(), notation.deviation(),
         notation.unit(),
         found->second == 0.0
             ? "-"
             : signed_text(error, format_percent(100.0 * error / std::abs(found->second), 3)),
         in_deviations(error, estimate.standard_deviation)});
  }
  if (rows.size() == 1) {
    throw proto::InputError(
        "the simulation file has none of the estimated parameters; use the matching rig file in "
        "configs/, or the same names of bodies and joints");
  }
  return format_table(rows, {false, true, true, true, false, true, true});
}

}  // namespace service
