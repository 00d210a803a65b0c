#pragma once

#include <string>
#include <vector>

#include "service/report/figure.hpp"
#include "tests/studies/runs/study_report.hpp"
#include "tests/studies/runs/study_task.hpp"
#include "tests/studies/study_data.hpp"
#include "tests/studies/study_kinds.hpp"

namespace service {

/// The runs of one method over the values of a setting.
struct SweepRuns {
  SweepAxis axis = SweepAxis::kStep;
  std::string method;
  std::vector<StudyRun> runs;  ///< in order of increasing value
};

/// "time step h [s]", …
std::string axis_label(SweepAxis axis);

/// Name for files: "step", "compliance", "state-error-weight".
std::string axis_word(SweepAxis axis);

/// The constant settings of a sweep, for captions: "h = 0.01 s, κ = 100".
std::string fixed_settings(const StudySettings& settings, SweepAxis varied);

/// Names of the parameters of the first run that has any.
std::vector<std::string> parameter_names(const std::vector<SweepRuns>& sweeps);

/// The settings with one of them replaced.
StudySettings with_value(StudySettings settings, SweepAxis axis, double value);

/// Returns the value of that setting in a run.
double value_of(const RunLabels& place, SweepAxis axis);

/// Returns the recording used for a study's sweeps.
const std::shared_ptr<const StudyData>& sweep_data(const Study& study, const LoadedSet& set);

/// Runs every sweep of the study with every method; returns per sweep one entry per method. Omits ε
/// = 0 for the explicit residual, which divides by ε. Empty if stopped.
std::optional<std::vector<std::vector<SweepRuns>>> run_sweeps(
    const Study& study, const LoadedSet& set, const StudyModel& model,
    const std::shared_ptr<const StudyData>& data, const TaskRunner& run);

/// Plots one parameter against the setting, one line per method, with bars of two standard
/// deviations and the true value if known.
Chart parameter_panel(const std::vector<SweepRuns>& sweeps, const std::string& parameter,
                      const std::vector<TrueValue>& truth);

/// Plots observation error and state error against the setting.
std::vector<Chart> error_panels(const std::vector<SweepRuns>& sweeps);

/// Table with one row per value and method: parameters, errors, iterations and termination.
StudyTable sweep_table(const std::vector<SweepRuns>& sweeps,
                       const std::vector<std::string>& parameters,
                       const std::vector<TrueValue>& truth);

}  // namespace service
