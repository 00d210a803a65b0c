#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "estimator/fit/fit_options.hpp"

namespace service {

/// Returns the options as a JSON object: all, or those that differ from their default.
std::string options_json(const estimator::CalibrationOptions& options, bool all);

/// Returns the help text of an option; empty for an option that has no name of its own on the
/// command line and in Python.
std::string_view option_help(const estimator::OptionRow& row);

/// Returns the help text of an option, with the unit in brackets behind its first clause.
std::string help_text(const estimator::OptionRow& row);

/// Returns the name of an option's argument in Python: "refine" for "no-refine".
std::string python_name(const estimator::OptionRow& row);

/// Returns the name of a kind of estimates: "physical" or "shadow".
std::string to_text(estimator::EstimateKind kind);

/// Parses the kind of estimates, "physical" or "shadow"; nullopt for any other word.
std::optional<estimator::EstimateKind> parse_estimate_kind(const std::string& word);

}  // namespace service
