#pragma once

#include <string>
#include <vector>

#include "service/result/calibration_message.hpp"

namespace service {

// Pieces of HTML that the reports share. Texts are escaped.

/// A self-contained page around a body of HTML, without external resources; with scripts where
/// there are figures for them.
std::string html_page(const std::string& title, const std::string& body);

/// The top of a report: title, program version, and the outcome, in the colour of warnings unless
/// it is a good one.
std::string heading(const std::string& title, const std::string& version, bool good,
                    const std::string& outcome);

/// One box of a summary: a name and a value.
std::string fact(const std::string& name, const std::string& value);

/// A table cell flushed right.
std::string number_cell(const std::string& text);

/// A section with a list; empty for an empty list.
std::string list_section(const std::string& title, const std::vector<std::string>& items);

/// A recording's name, with its scenario where the name does not tell it.
std::string recording_title(const RecordingUse& use);

}  // namespace service
