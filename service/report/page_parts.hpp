#pragma once

#include <string>
#include <vector>

#include "service/result/calibration_message.hpp"

namespace service {

// HTML fragments shared by the reports. Texts are escaped.

/// Returns a self-contained page around a body of HTML, without external resources. Includes the
/// scripts if it has figures.
std::string html_page(const std::string& title, const std::string& body);

/// Formats date and versions in a line: "2026-11-22 20:15 UTC · rigcal 1.2.3 · operator Ada".
/// @param date           as in results, "2026-11-22T20:15:00Z"
/// @param operator_name  empty: unknown
std::string origin_line(const std::string& date, const std::string& version,
                        const std::string& operator_name = "");

/// Returns the top of a report: title, origin, and the outcome, in the warning colour unless it is
/// good.
std::string heading(const std::string& title, const std::string& origin, bool good,
                    const std::string& outcome);
std::string heading(const std::string& title, const CalibrationContext& context, bool good,
                    const std::string& outcome);

/// Section with the input files of a result and the data to check that they are unchanged.
std::string origin_section(const CalibrationContext& context);

/// One box of a summary: a name and a value.
std::string summary_box(const std::string& name, const std::string& value);

/// A section with a list; empty for an empty list.
std::string list_section(const std::string& title, const std::vector<std::string>& items);

/// Returns a recording's name, with its scenario unless the name contains it.
std::string recording_title(const RecordingUse& use);

}  // namespace service
