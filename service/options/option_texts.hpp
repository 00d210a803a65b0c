#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "estimator/fit/fit_options.hpp"

namespace service {

/// Returns calibration options as a JSON object.
/// @param all  all options; false: only the options that differ from their defaults
std::string format_options_json(const estimator::CalibrationOptions& options, bool all);

/// Returns the help text of a calibration option; empty for an option that users cannot set by its
/// own name.
std::string_view find_option_help(const estimator::OptionRow& row);

/// Returns the help text of a calibration option for the command line, including its unit.
std::string format_help_text(const estimator::OptionRow& row);

/// Returns the name of the Python argument for a command-line option, e.g. "refine" for
/// "no-refine".
std::string python_argument_name(const estimator::OptionRow& row);

/// Returns a sentence that a calibration has exceeded its time limit, with the remedy.
/// @param remedy  how to raise the limit
std::string describe_time_limit_end(double duration_s, const std::string& remedy);

/// Returns the name of a kind of parameter estimates: "physical" or "shadow".
std::string estimate_kind_name(estimator::EstimateKind kind);

/// Parses the kind of parameter estimates, "physical" or "shadow"; nullopt for any other word.
std::optional<estimator::EstimateKind> parse_estimate_kind(const std::string& word);

}  // namespace service
