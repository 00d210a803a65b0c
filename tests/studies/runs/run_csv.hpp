#pragma once

#include <string>
#include <vector>

#include "tests/studies/runs/study_run.hpp"

namespace service {

/// Formats one row per run: its place, termination, errors, and every parameter of any run with its
/// standard deviation. Missing values are empty.
std::string runs_csv(const std::vector<StudyRun>& runs);

/// Formats one row per iteration: run, iteration, cost, and the varied parameters.
std::string histories_csv(const std::vector<StudyRun>& runs);

}  // namespace service
