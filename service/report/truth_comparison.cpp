#include "service/report/truth_comparison.hpp"

#include <cmath>

#include "proto/text/input_error.hpp"
#include "service/report/result_table.hpp"
#include "service/result/calibration_outcome.hpp"
#include "service/text/number_format.hpp"

namespace service {
namespace {

std::string error_text(double error, double truth) {
  if (truth == 0.0) return format_number(error, 2);
  return format_signed(100.0 * error / std::abs(truth), 3) + " %";
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
  for (const estimator::ParameterEstimate& estimate : estimates) {
    const auto found = truth.find(estimate.name);
    if (found == truth.end()) continue;
    const Measured number = format_measured(estimate.value, estimate.standard_deviation);
    const double error = estimate.value - found->second;
    const Notation notation = notation_of(estimate);
    rows.push_back({estimate.name, notation.number(found->second, 6), number.value,
                    number.standard_deviation, estimate.unit, error_text(error, found->second),
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
