#pragma once

#include <string>
#include <vector>

#include "service/result/calibration_message.hpp"

namespace service {

// Pieces of HTML that the reports share. Texts are escaped.

/// A self-contained page around a body of HTML, without external resources; with scripts where
/// there are figures for them.
std::string html_page(const std::string& title, const std::string& body);

/// When and with what, in a line: "2026-11-22 20:15 UTC · rigcal 1.2.3 · operator Ada".
/// @param date           as in results, "2026-11-22T20:15:00Z"
/// @param operator_name  empty: not told
std::string origin_line(const std::string& date, const std::string& version,
                        const std::string& operator_name = "");

/// The top of a report: title, where it comes from, and the outcome, in the colour of warnings
/// unless it is a good one.
std::string heading(const std::string& title, const std::string& origin, bool good,
                    const std::string& outcome);
std::string heading(const std::string& title, const CalibrationContext& context, bool good,
                    const std::string& outcome);

/// The files that a result is of, with what tells whether they are still the same.
std::string origin_section(const CalibrationContext& context);

/// One box of a summary: a name and a value.
std::string fact(const std::string& name, const std::string& value);

/// A section with a list; empty for an empty list.
std::string list_section(const std::string& title, const std::vector<std::string>& items);

/// A recording's name, with its scenario where the name does not tell it.
std::string recording_title(const RecordingUse& use);

}  // namespace service
