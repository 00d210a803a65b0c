#pragma once

#include <string>
#include <vector>

#include "estimator/calibrate/calibration.hpp"
#include "service/result/calibration_message.hpp"

namespace service {

// Pieces of HTML that the reports share. Texts are escaped.

/// A self-contained page around a body of HTML, without scripts and external resources.
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

/// A section for each segment, the first 24: measured and simulated angles, their difference and
/// the control.
/// @param hinges names of the measured hinges, in the order of the trajectories' columns
/// @param controls labels of the motors' controls
/// @param findings are marked where they have a place in time
std::string trajectory_sections(const std::vector<estimator::SegmentTrajectory>& trajectories,
                                const std::vector<std::string>& hinges,
                                const std::vector<std::string>& controls,
                                const std::vector<estimator::JointKind>& kinds = {},
                                const std::vector<estimator::Finding>& findings = {});

/// A recording's name, with its scenario where the name does not tell it.
std::string recording_title(const RecordingUse& use);

}  // namespace service
