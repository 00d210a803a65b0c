#pragma once

#include <string>
#include <vector>

#include "tests/studies/runs/study_run.hpp"

namespace service {

/// Returns a CSV table with a row per run: its labels, termination, errors, and each parameter of
/// any run with its standard deviation. Cells of missing values are empty.
std::string runs_csv(const std::vector<StudyRun>& runs);

/// Returns a CSV table with a row per iteration of each run: run, iteration, cost, and the varied
/// parameters.
std::string histories_csv(const std::vector<StudyRun>& runs);

}  // namespace service
