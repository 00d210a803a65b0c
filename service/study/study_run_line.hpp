#pragma once

#include <optional>
#include <string>

#include "service/study/study_run.hpp"

namespace service {

/// The run as one line of JSON (StudyRunRecord of proto/study.proto), without its line end.
std::string study_run_line(const StudyRun& run);

/// Reads such a line; nothing when it is damaged.
std::optional<StudyRun> parse_study_run(const std::string& line);

}  // namespace service
