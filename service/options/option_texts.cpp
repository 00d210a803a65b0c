#include "service/options/option_texts.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "proto/notation/number_format.hpp"

namespace service {
namespace {

/// Help of an option.
struct OptionHelp {
  std::string_view name;  ///< name on the command line
  std::string_view help;  ///< the unit is inserted behind its first clause
};

constexpr OptionHelp kOptionHelp[] = {
    {"step", "Time step; for physical parameters the maximum integration step. Default: automatic"},
    {"acceleration-noise", "Process noise, for physical parameters; default: from the data"},
    {"state-error-weight",
     "Weight of impulse residuals relative to angle residuals; default: from the data"},
    {"compliance", "Compliance of all joints; default: from the rig file"},
    {"damping-time", "Damping time of all joints; default: from the rig file"},
    {"residual", "Form of the residual of a time step; default: implicit"},
    {"states", "Unknowns of a time step; default: configurations"},
    {"linear",
     "Only a linear regression of inverse dynamics: fast, but biased by sensor noise. "
     "For open chains with an encoder on every joint"},
    {"filter-cutoff",
     "Low-pass cutoff for initial states; raised automatically for fast motion. "
     "Lower it for noisy sensors"},
    {"max-iterations", "Maximum number of iterations of a fit, and of each of its restarts"},
    {"restarts",
     "Maximum number of successful restarts of a fit that may have ended in a local minimum. "
     "Only for physical parameters. 0: no restarts, which is faster"},
    {"no-refine", "Omit the fit of the open-loop simulation after the joint estimation"},
    {"no-start-from-physical",
     "Start from the given values instead of first estimating physical parameters"},
    {"as-is",
     "Use recordings unrepaired: "
     "reject no outliers, do not split at lost samples, free no offset after an encoder slip"},
    {"inertias",
     "Parameterization of completely free inertias; entries does not guarantee physical "
     "consistency. Default: log-cholesky"},
};

}  // namespace

std::string format_options_json(const estimator::CalibrationOptions& options, bool all) {
  std::string json;
  for (const estimator::OptionRow& row : estimator::kOptionRows) {
    if (!all && has_default_value(row, options)) continue;
    const std::string quote = row.is_enumeration() ? "\"" : "";
    json.append(json.empty() ? "{\"" : ", \"").append(row.key).append("\": ");
    json += quote + format_option(row, options) + quote;
  }
  return json.empty() ? "{}" : json + "}";
}

std::string_view find_option_help(const estimator::OptionRow& row) {
  const auto* const found = std::ranges::find(kOptionHelp, row.name, &OptionHelp::name);
  return found == std::end(kOptionHelp) ? "" : found->help;
}

std::string format_help_text(const estimator::OptionRow& row) {
  std::string text(find_option_help(row));
  if (row.unit.empty()) return text;
  return text.insert(std::min(text.find_first_of(".;"), text.size()),
                     " [" + std::string(row.unit) + "]");
}

std::string python_argument_name(const estimator::OptionRow& row) {
  std::string name(row.name.starts_with("no-") ? row.name.substr(3) : row.name);
  std::ranges::replace(name, '-', '_');
  return name;
}

std::string describe_time_limit_end(double duration_s, const std::string& remedy) {
  return fmt::format(
      "the time limit of {} s is over. Use a part of the recordings or a longer step, check the "
      "rig file for extreme values, or {}",
      notation::format_number(duration_s), remedy);
}

std::string estimate_kind_name(estimator::EstimateKind kind) {
  return std::string(estimator::kKindWords[static_cast<std::size_t>(kind)]);
}

std::optional<estimator::EstimateKind> parse_estimate_kind(const std::string& word) {
  estimator::CalibrationOptions options;
  set_option(estimator::kOptionRows[0], word, options);
  return options.kind;
}

}  // namespace service
