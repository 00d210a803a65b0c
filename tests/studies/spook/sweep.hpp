#pragma once

#include <string>
#include <vector>

#include "tests/studies/runs/study_figures.hpp"
#include "tests/studies/runs/study_report.hpp"
#include "tests/studies/runs/study_task.hpp"
#include "tests/studies/study_data.hpp"
#include "tests/studies/study_kinds.hpp"

namespace service {

/// Runs of a method over the values of a setting.
struct SweepRuns {
  SweepAxis axis = SweepAxis::kStep;
  std::string method;
  std::vector<StudyRun> runs;  ///< in order of increasing value
};

/// Returns the label of a setting for chart axes, e.g. "time step h [s]".
std::string axis_label(SweepAxis axis);

/// Returns the name of a setting for file names: "step", "compliance" or "state-error-weight".
std::string axis_word(SweepAxis axis);

/// Returns the settings that a sweep does not vary as text for captions: "h = 0.01 s, κ = 100".
std::string fixed_settings(const StudySettings& settings, SweepAxis varied);

/// Returns the parameter names of the first run that has parameters.
std::vector<std::string> parameter_names(const std::vector<SweepRuns>& sweeps);

/// Returns the settings with the value of one setting replaced.
StudySettings with_value(StudySettings settings, SweepAxis axis, double value);

/// Returns the value of a setting in the labels of a run.
double value_of(const RunLabels& place, SweepAxis axis);

/// Returns the recording used for a study's sweeps.
const std::shared_ptr<const StudyData>& sweep_data(const Study& study, const LoadedSet& set);

/// Runs each sweep of the study with each method. Returns, for each sweep, the runs of each method,
/// or nullopt if stopped. For the explicit residual, which divides by ε, it omits ε = 0.
std::optional<std::vector<std::vector<SweepRuns>>> run_sweeps(
    const Study& study, const LoadedSet& set, const StudyModel& model,
    const std::shared_ptr<const StudyData>& data, const TaskRunner& run);

/// Plots estimates of a parameter against the setting that the sweeps vary. There is a line per
/// method, with bars of two standard deviations, and the true value if it is known.
Chart parameter_panel(const std::vector<SweepRuns>& sweeps, const std::string& parameter,
                      const std::vector<TrueValue>& truth);

/// Plots the observation error and the state error against the setting that the sweeps vary.
std::vector<Chart> error_panels(const std::vector<SweepRuns>& sweeps);

/// Returns a table of parameters, errors, iterations and termination, with a row per value and
/// method.
StudyTable sweep_table(const std::vector<SweepRuns>& sweeps,
                       const std::vector<std::string>& parameters,
                       const std::vector<TrueValue>& truth);

}  // namespace service
