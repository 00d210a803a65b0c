#pragma once

#include <string>
#include <vector>

#include "estimator/assess/finding.hpp"
#include "estimator/diagnostics/excitation.hpp"

namespace service {

/// Formats findings for a terminal, most severe first: description, probability, advice, and
/// automatic treatment. Empty if there are none.
std::string format_findings(const std::vector<estimator::Finding>& findings);

/// Formats findings as a section of a page.
std::string finding_section(const std::vector<estimator::Finding>& findings);

/// Formats for a terminal which parameters the recordings can identify.
std::string format_excitation(const estimator::Excitation& excitation);

}  // namespace service
