#pragma once

#include <optional>
#include <string>

#include "service/study/study_run.hpp"

namespace service {

/// Formats the run as one line of JSON (StudyRunRecord of proto/study.proto), without newline.
std::string study_run_line(const StudyRun& run);

/// Parses such a line; returns nothing if it is damaged.
std::optional<StudyRun> parse_study_run(const std::string& line);

}  // namespace service
