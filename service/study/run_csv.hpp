#pragma once

#include <string>
#include <vector>

#include "service/study/study_run.hpp"

namespace service {

/// One row a run: where it stands, how it ended, its errors, and every parameter of any run with
/// its standard deviation. What a run does not have is left empty.
std::string runs_csv(const std::vector<StudyRun>& runs);

/// One row an iteration: run, iteration, cost, and the parameters that were varied.
std::string histories_csv(const std::vector<StudyRun>& runs);

}  // namespace service
