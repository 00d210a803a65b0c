#pragma once

#include <string>
#include <vector>

#include "estimator/assessment/finding.hpp"
#include "estimator/diagnostics/misfit/excitation.hpp"

namespace service {

/// Formats findings about the recordings for a terminal, the most severe first. Each finding has a
/// description, a probability, advice, and the repair by rigcal. Empty if there are no findings.
std::string format_findings(const std::vector<estimator::Finding>& findings);

/// Returns the given findings, followed by the notes that are warnings, converted to findings.
std::vector<estimator::Finding> add_warnings_as_findings(
    std::vector<estimator::Finding> findings, const std::vector<estimator::Message>& notes);

/// Returns the notes that are not warnings.
std::vector<std::string> notes_without_warnings(std::vector<estimator::Message> notes);

/// Formats findings about the recordings as a section of an HTML page.
std::string render_finding_section(const std::vector<estimator::Finding>& findings);

/// Returns the rows of a table with the predicted standard deviations of the free parameters. The
/// first row is the heading.
std::vector<std::vector<std::string>> identifiability_table_rows(
    const estimator::PredictedPrecision& excitation);

/// Formats the predicted standard deviations of the free parameters, and a list of unidentifiable
/// parameters, as text for a terminal.
std::string format_identifiability(const estimator::PredictedPrecision& excitation);

}  // namespace service
