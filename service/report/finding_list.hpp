#pragma once

#include <string>
#include <vector>

#include "estimator/assess/finding.hpp"
#include "estimator/diagnostics/excitation.hpp"

namespace service {

/// Formats findings about the recordings for a terminal, the most severe first. Each has a
/// description, a probability, advice, and what rigcal repaired. Empty if there are no findings.
std::string format_findings(const std::vector<estimator::Finding>& findings);

/// Formats findings about the recordings as a section of an HTML page.
std::string finding_section(const std::vector<estimator::Finding>& findings);

/// Formats for a terminal which parameters are identifiable from the recordings.
std::string format_excitation(const estimator::Excitation& excitation);

}  // namespace service
