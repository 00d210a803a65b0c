#pragma once

#include <string>

#include "tests/studies/runs/study_run.hpp"

namespace service {

/// Returns a run as JSON, with all digits.
std::string format_run(StudyRun run);

/// Returns a run from the JSON of `format_run`.
/// @throws std::runtime_error for other texts
StudyRun parse_run(const std::string& json);

}  // namespace service
