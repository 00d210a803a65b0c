#include "service/report/truth_table.hpp"

#include <cmath>
#include <cstdio>

#include "proto/text/input_error.hpp"
#include "service/report/result_table.hpp"
#include "service/text/number_format.hpp"

namespace service {
namespace {

std::string with_sign(const char* format, double value) {
  if (!std::isfinite(value)) return "-";
  char text[32];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

std::string error_text(double error, double truth) {
  if (truth == 0.0) return format_quantity(error, 2);
  return with_sign("%+.3f %%", 100.0 * error / std::abs(truth));
}

std::string in_deviations(double error, double standard_deviation) {
  const bool known = standard_deviation > 0.0 && std::isfinite(standard_deviation);
  return known ? with_sign("%+.1f", error / standard_deviation) : "-";
}

}  // namespace

std::string format_truth(const std::vector<estimator::ParameterEstimate>& estimates,
                         const TrueParameters& truth) {
  std::vector<std::vector<std::string>> rows = {
      {"parameter", "truth", "estimate", "± sd", "unit", "error", "error/sd"}};
  for (const estimator::ParameterEstimate& estimate : estimates) {
    const auto found = truth.find(estimate.name);
    if (found == truth.end()) continue;
    const Measured number = format_measured(estimate.value, estimate.standard_deviation);
    const double error = estimate.value - found->second;
    rows.push_back({estimate.name, format_quantity(found->second, 6), number.value,
                    number.standard_deviation, estimate.unit, error_text(error, found->second),
                    in_deviations(error, estimate.standard_deviation)});
  }
  if (rows.size() == 1) {
    throw proto::InputError(
        "the simulation knows none of the estimated parameters by name; use the rig file beside "
        "it in configs/, or its names of bodies and hinges");
  }
  return format_table(rows, {false, true, true, true, false, true, true});
}

}  // namespace service
