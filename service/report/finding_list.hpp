#pragma once

#include <string>
#include <vector>

#include "estimator/assess/finding.hpp"
#include "estimator/doctor/excitation.hpp"

namespace service {

/// Findings for a terminal, the worst first: what, how sure, what to do, what rigcal does by
/// itself. Empty where there are none.
std::string format_findings(const std::vector<estimator::Finding>& findings);

/// The same as a section of a page.
std::string finding_section(const std::vector<estimator::Finding>& findings);

/// What the recordings can tell, for a terminal.
std::string format_excitation(const estimator::Excitation& excitation);

}  // namespace service
