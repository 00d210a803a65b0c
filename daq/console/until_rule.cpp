#include "daq/console/until_rule.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "proto/notation/number_format.hpp"
#include "proto/text/input_error.hpp"

namespace daq {
namespace {

constexpr const char* kPercent = "%";
constexpr int kDigits = 2;          // of a precision
constexpr int kEstimateDigits = 6;  // of an estimate

const proto::LiveParameter* find_parameter(const proto::LiveEstimate& estimate,
                                           const std::string& name) {
  const auto found = std::ranges::find(estimate.parameters, name, &proto::LiveParameter::name);
  return found == estimate.parameters.end() ? nullptr : &*found;
}

/// Returns the half-width of a parameter's interval in the unit of a target.
double precision_of(const proto::LiveParameter& parameter, const proto::LiveTarget& target) {
  if (target.unit != kPercent) return parameter.half_width;
  if (parameter.value == 0.0) return std::numeric_limits<double>::infinity();
  return 100.0 * parameter.half_width / std::abs(parameter.value);
}

bool is_reached(const proto::LiveParameter& parameter, const proto::LiveTarget& target) {
  return precision_of(parameter, target) <= target.half_width;  // false for NaN
}

std::string with_unit(double number, const std::string& unit) {
  return notation::format_number(number, kDigits) + (unit.empty() ? "" : " " + unit);
}

}  // namespace

proto::LiveTarget parse_live_target(const std::string& text) {
  const auto fail = [&](const std::string& problem) {
    throw proto::InputError("--until " + text + ": " + problem +
                            "; write NAME:PRECISION, as in B.J_yy:0.1% or \"B.J_yy:4e-6 kg·m²\"");
  };
  const std::size_t colon = text.rfind(':');
  proto::LiveTarget target;
  if (colon == std::string::npos || colon == 0) fail("there is no name before a colon");
  target.parameter = text.substr(0, colon);
  const char* const begin = text.data() + colon + 1;
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(begin, end, target.half_width);
  if (read.ec != std::errc() || !(target.half_width > 0.0) || !std::isfinite(target.half_width)) {
    fail("the precision is not a number above 0");
  }
  const char* unit = read.ptr;
  while (unit != end && *unit == ' ') ++unit;
  target.unit.assign(unit, end);
  return target;
}

bool UntilRule::holds(const proto::LiveEstimate& estimate) const {
  if (targets_.empty() || !estimate.is_model_accepted || !estimate.problem.empty()) return false;
  return std::ranges::all_of(targets_, [&](const proto::LiveTarget& target) {
    const proto::LiveParameter* const parameter = find_parameter(estimate, target.parameter);
    return parameter != nullptr && is_reached(*parameter, target);
  });
}

void UntilRule::add(const proto::LiveEstimate& estimate) {
  if (is_met_) return;
  latest_ = estimate;
  if (!holds(estimate)) {
    held_count_ = 0;
    return;
  }
  if (held_count_++ == 0) held_since_s_ = estimate.through_s;
  is_met_ = held_count_ >= kEstimates && estimate.through_s - held_since_s_ >= kRest_s;
}

std::vector<std::string> UntilRule::describe_targets() const {
  std::vector<std::string> lines;
  for (const proto::LiveTarget& target : targets_) {
    const std::string wanted = " (target " + with_unit(target.half_width, target.unit) + ")";
    const proto::LiveParameter* const parameter = find_parameter(latest_, target.parameter);
    if (parameter == nullptr) {
      lines.push_back(target.parameter + ": no estimate yet" + wanted);
      continue;
    }
    const double precision = precision_of(*parameter, target);
    const bool is_relative = target.unit == kPercent;
    lines.push_back(
        target.parameter + " = " + notation::format_number(parameter->value, kEstimateDigits) +
        (is_relative && !parameter->unit.empty() ? " " + parameter->unit : "") + " ± " +
        (std::isfinite(precision) ? with_unit(precision, target.unit) : "unknown") + wanted);
  }
  return lines;
}

std::string UntilRule::describe_end() const {
  std::string text = is_met_ ? "All targets hold and the model fits, so the recording has ended: "
                     : latest_.parameters.empty() || latest_.is_model_accepted
                         ? "The recording has ended before all targets hold: "
                         : "The recording has ended, and the model does not fit: ";
  const std::vector<std::string> lines = describe_targets();
  for (std::size_t k = 0; k < lines.size(); ++k) text += (k == 0 ? "" : ", ") + lines[k];
  return text + ".";
}

}  // namespace daq
